import { MrlmError } from "@mrlm/spec";

/** Error codes of the operating system for a failed write. */
const CODES = new Set([
  "ENOSPC",
  "EDQUOT",
  "EFBIG",
  "EIO",
  "EROFS",
  "EACCES",
  "EPERM",
  "ENOENT",
  "EEXIST",
  "ENOTDIR",
  "EISDIR",
]);
/** SQLite result codes FULL, IOERR and READONLY. */
const SQLITE_CODES = new Set([13, 10, 8]);

/**
 * Converts an error about a file that could not be written to WRITE_FAILED. Returns any other error unchanged.
 * @param what beginning of the message: the operation that failed
 */
export function asWriteFailure(error: unknown, what: string, hint?: string): unknown {
  if (MrlmError.isInstance(error) || typeof error !== "object" || error === null) return error;
  const { code, errcode, message } = error as NodeJS.ErrnoException & { readonly errcode?: number };
  const isSqlite = code === "ERR_SQLITE_ERROR" && SQLITE_CODES.has((errcode ?? 0) & 0xff);
  if (!isSqlite && !CODES.has(code ?? "")) return error;
  return new MrlmError("WRITE_FAILED", `${what}: ${message}.`, {
    ...(hint === undefined ? {} : { hint }),
    cause: error,
  });
}
