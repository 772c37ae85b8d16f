// Module for `node --import` in front of `mrlm train`: SIGUSR2 ends the thread of the episode store, as an error in it would. Before there is
// one, the signal is kept for the first.
import { createRequire, syncBuiltinESMExports } from "node:module";
import { isMainThread, type Worker } from "node:worker_threads";

/** Name that the store gives its thread. */
const STORE = "mrlm-store";

if (isMainThread) {
  const threads = createRequire(import.meta.url)("node:worker_threads") as { Worker: typeof Worker };
  let isAsked = false;
  const stores = new Set<Worker>();
  threads.Worker = class extends threads.Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args);
      if (args[1]?.name !== STORE) return;
      stores.add(this);
      if (isAsked) void this.terminate();
    }
  };
  syncBuiltinESMExports();
  process.on("SIGUSR2", () => {
    isAsked = true;
    for (const store of stores) void store.terminate();
  });
}
