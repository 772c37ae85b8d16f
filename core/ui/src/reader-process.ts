// Process that reads runs. SQLite and large files would hold the thread of the server, and a damaged store may end the process that reads it.
import { processChannel, serveCalls, toKnownError } from "@mrlm/process";
import { MrlmError } from "@mrlm/spec";
import { READS, type Reads } from "./reader/reads.ts";

serveCalls<Reads>(processChannel(process), {
  answer: (name, args) => (READS[name] as (...given: readonly unknown[]) => unknown)(...args),
  toSent: (error) => toKnownError(faultOfRun(error)),
});
// The server has ended.
process.on("disconnect", () => process.exit());

/** Names what a file of a run did to its reader: another process may delete it or write to it, and it may be damaged. */
function faultOfRun(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return new MrlmError("RUN_NOT_FOUND", `The run is gone: ${String(error)}`, { cause: error });
  if (code !== "ERR_SQLITE_ERROR" && !(error instanceof SyntaxError)) return error;
  return new MrlmError("STORE_INVALID", `A file of the run is damaged: ${(error as Error).message}.`, {
    hint: "Restore the run from a copy.",
    cause: error,
  });
}
