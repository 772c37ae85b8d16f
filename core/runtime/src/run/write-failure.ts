import { defined, MrlmError } from "@mrlm/spec";

/** Error codes of a path or of its rights, in contrast to a full disk. */
const PATH_CODES = new Set(["EROFS", "EACCES", "EPERM", "ENOENT", "EEXIST", "ENOTDIR", "EISDIR"]);
/** Error codes of the operating system for a failed write. */
const CODES = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EIO", ...PATH_CODES]);
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
    ...defined({ hint }),
    cause: error,
  });
}

/** Converts an error from before the work: OUTPUT_INVALID where the path that was named for results accepts no file, else as `asWriteFailure`. */
export function asOutputFault(error: unknown, what: string, hint: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (MrlmError.isInstance(error) || !PATH_CODES.has(code ?? "")) return asWriteFailure(error, what, hint);
  // Without the path of the system call, which may be a temporary file; a cause would print it again.
  return new MrlmError("OUTPUT_INVALID", `${what}: ${message.replace(/, \w+ '.*$/, "")}.`, { hint });
}
