// Thread that owns the connection of a store, so that writes do not block the event loop of the run.
import { parentPort, workerData } from "node:worker_threads";
import { answer, answerCall, CHANGED, type StoreCall, type StoreReply } from "./answer-call.ts";
import { StoreDatabase } from "./store-database.ts";
import type { StoreSettings } from "./store-settings.ts";

const port = parentPort as NonNullable<typeof parentPort>;
let database: StoreDatabase | undefined;

port.on("message", (call: StoreCall) => port.postMessage(answerCall(database, call)));
port.postMessage(
  answer(0, () => {
    database = new StoreDatabase(workerData as StoreSettings);
    database.onChange(() => port.postMessage({ id: CHANGED } satisfies StoreReply));
  }),
);
