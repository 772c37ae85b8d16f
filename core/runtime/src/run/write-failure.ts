import { MrlmError } from "@mrlm/spec";

/** Errors of the operating system that say a file could not be written. */
const CODES = new Set(["ENOSPC", "EDQUOT", "EFBIG", "EIO", "EROFS", "EACCES", "EPERM", "ENOENT", "EEXIST", "ENOTDIR"]);
/** SQLite's result codes FULL, IOERR and READONLY. */
const SQLITE_CODES = new Set([13, 10, 8]);

/** WRITE_FAILED where an error says that the run's own files could not be written; any other error as it is. */
export function asWriteFailure(error: unknown, directory: string): unknown {
  if (MrlmError.isInstance(error) || typeof error !== "object" || error === null) return error;
  const { code, errcode, message } = error as NodeJS.ErrnoException & { readonly errcode?: number };
  const isSqlite = code === "ERR_SQLITE_ERROR" && SQLITE_CODES.has((errcode ?? 0) & 0xff);
  if (!isSqlite && !CODES.has(code ?? "")) return error;
  return new MrlmError("WRITE_FAILED", `A file of the run ${directory} could not be written: ${message}.`, { cause: error });
}
