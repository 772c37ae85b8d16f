// Thread of the watchdog: checks armed children at intervals and kills those over a limit, even if the event loop is busy.
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { Inspector } from "./watchdog/inspector.ts";
import { NEXT_LOOK, sharedNow, THREAD, tickOf, WAKE, watchTable } from "./watchdog/table.ts";

/** Nice value above that of the children: a watchdog that waits for a processor would be late. */
const PRIORITY = -10;

const { buffer, thread } = workerData as { buffer: SharedArrayBuffer; thread: number };
const table = watchTable(buffer);
const inspector = new Inspector(table, (killed) => parentPort?.postMessage(killed));
raisePriority();
parentPort?.postMessage("ready");
// Read first, so that no wake-up is missed.
let wake = Atomics.load(table.armed, WAKE);
while (Atomics.load(table.armed, THREAD) === thread) {
  const pauseMs = inspector.inspect();
  Atomics.store(table.armed, NEXT_LOOK, Number.isFinite(pauseMs) ? tickOf(sharedNow() + pauseMs) : 0);
  Atomics.wait(table.armed, WAKE, wake, pauseMs);
  wake = Atomics.load(table.armed, WAKE);
}

/** Raises the priority of this thread, if this user may. */
function raisePriority(): void {
  try {
    setPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1)), PRIORITY);
  } catch {
    // No permission, or no /proc.
  }
}
