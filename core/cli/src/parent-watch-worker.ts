// Thread that ends a process of plugins after the process that started it. Code that blocks the event loop does not delay it.
import { workerData } from "node:worker_threads";
import { endOrphan, type Orphan } from "./services/parent-watch.ts";

const CHECK_MS = 250;

const orphan = workerData as Orphan;
setInterval(() => {
  if (hasEnded(orphan.parent)) endOrphan(orphan);
}, CHECK_MS);

function hasEnded(parent: number): boolean {
  if (process.platform !== "win32") return process.ppid !== parent;
  try {
    process.kill(parent, 0);
    return false;
  } catch {
    return true;
  }
}
