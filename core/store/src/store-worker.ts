// Thread that owns the connection of a store, so that writes do not block the event loop of the run.
import { parentPort, workerData } from "node:worker_threads";
import { answer, answerCall, type StoreCall } from "./answer-call.ts";
import { StoreDatabase, type StoreSettings } from "./store-database.ts";

const port = parentPort as NonNullable<typeof parentPort>;
let database: StoreDatabase | undefined;

port.on("message", (call: StoreCall) => port.postMessage(answerCall(database, call)));
port.postMessage(
  answer(0, () => {
    database = new StoreDatabase(workerData as StoreSettings);
  }),
);
