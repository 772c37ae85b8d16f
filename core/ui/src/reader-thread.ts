// Thread that reads runs: SQLite and large files would hold the thread of the server.
import { parentPort } from "node:worker_threads";
import { MrlmError } from "@mrlm/spec";
import { toErrorRecord } from "@mrlm/store";
import { READS } from "./reader/reads.ts";
import type { ReadAnswer, ReadRequest } from "./reader/thread-messages.ts";

parentPort?.on("message", ({ id, name, args }: ReadRequest) => {
  parentPort?.postMessage(answerOf(id, () => (READS[name] as (...given: readonly unknown[]) => unknown)(...args)));
});

function answerOf(id: number, read: () => unknown): ReadAnswer {
  try {
    return { id, value: read() };
  } catch (error) {
    const isGone = (error as NodeJS.ErrnoException).code === "ENOENT";
    return {
      id,
      error: toErrorRecord(isGone ? new MrlmError("RUN_NOT_FOUND", `The run is gone: ${String(error)}`) : error),
    };
  }
}
