// Thread that owns the connection of a store, so that writes do not block the event loop of the run.
import { parentPort, workerData } from "node:worker_threads";
import { MrlmError } from "@mrlm/spec";
import { StoreDatabase, type StoreSettings } from "./store-database.ts";
import type { StoreCall, StoreReply } from "./worker-store.ts";

const port = parentPort as NonNullable<typeof parentPort>;
let database: StoreDatabase | undefined;

port.on("message", ({ id, method, args }: StoreCall) => {
  port.postMessage(answer(id, () => run(method, args)));
});
port.postMessage(
  answer(0, () => {
    database = new StoreDatabase(workerData as StoreSettings);
  }),
);

function run(method: StoreCall["method"], args: readonly unknown[]): unknown {
  const call = database?.[method] as (...args: unknown[]) => unknown;
  return call.apply(database, [...args]);
}

function answer(id: number, work: () => unknown): StoreReply {
  try {
    return { id, result: work() };
  } catch (error) {
    if (!(error instanceof MrlmError)) return { id, error: { code: "INTERNAL", message: String(error), hint: "" } };
    return { id, error: { code: error.code, message: error.message, hint: error.hint } };
  }
}
