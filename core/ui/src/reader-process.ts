// Process that reads runs. SQLite and large files would hold the thread of the server, and a damaged store may end the process that reads it.
import { MrlmError } from "@mrlm/spec";
import { toErrorRecord } from "@mrlm/store";
import type { ReadAnswer, ReadRequest } from "./reader/read-messages.ts";
import { READS } from "./reader/reads.ts";

process.on("message", ({ id, name, args }: ReadRequest) => {
  process.send?.(answerOf(id, () => (READS[name] as (...given: readonly unknown[]) => unknown)(...args)));
});
// The server has ended.
process.on("disconnect", () => process.exit());
// An interrupt reaches every process of a terminal. The server ends this one.
process.on("SIGINT", () => undefined);

function answerOf(id: number, read: () => unknown): ReadAnswer {
  try {
    return { id, value: read() };
  } catch (error) {
    return { id, error: toErrorRecord(faultOfRun(error)) };
  }
}

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
