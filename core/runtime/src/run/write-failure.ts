import { MrlmError } from "@mrlm/spec";

/** Errors of the operating system that say a file could not be written. */
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
/** SQLite's result codes FULL, IOERR and READONLY. */
const SQLITE_CODES = new Set([13, 10, 8]);

/**
 * WRITE_FAILED where an error says that a file could not be written; any other error as it is.
 * @param what could not be done
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
