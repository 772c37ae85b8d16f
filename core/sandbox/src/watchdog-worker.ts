// The watchdog's thread: sleeps, looks at each armed child, kills what is past a limit. The event loop of the process may be busy meanwhile.
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { Inspector } from "./watchdog/inspector.ts";
import { NEXT_LOOK, sharedNow, THREAD, tickOf, WAKE, watchTable } from "./watchdog/table.ts";

/** Above the children that it watches: a watchdog that waits for the processor is late. */
const PRIORITY = -10;

const { buffer, thread } = workerData as { buffer: SharedArrayBuffer; thread: number };
const table = watchTable(buffer);
const inspector = new Inspector(table, (killed) => parentPort?.postMessage(killed));
raisePriority();
// Read before everything that a waker may have changed, so that no wake is slept through.
let wake = Atomics.load(table.armed, WAKE);
while (Atomics.load(table.armed, THREAD) === thread) {
  const pauseMs = inspector.inspect();
  Atomics.store(table.armed, NEXT_LOOK, Number.isFinite(pauseMs) ? tickOf(sharedNow() + pauseMs) : 0);
  Atomics.wait(table.armed, WAKE, wake, pauseMs);
  wake = Atomics.load(table.armed, WAKE);
}

/** Only root and those whom it allows may; others stay as they are. */
function raisePriority(): void {
  try {
    setPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1)), PRIORITY);
  } catch {
    // Not allowed, or no /proc.
  }
}
