// Thread that interrupts the main thread when a program exceeds its deadline or processor time.
import { workerData } from "node:worker_threads";
import { ASLEEP, ARMED, CAUSE, FIRING, LIMIT, now, STATE } from "./clock.ts";
import type { InterruptData } from "./interrupt.ts";

/** Interval of checks of the processor time while programs run. */
const TICK_MS = 20;
/** Ticks without a program after which the thread sleeps until the next one. */
const IDLE_TICKS = 5;

const { clock, supervisor } = workerData as InterruptData;
const { words, limits } = clock;
for (let idle = 0; ;) {
  if (Atomics.load(words, STATE) === ARMED) {
    idle = 0;
    pause(inspect());
  } else if (++idle < IDLE_TICKS) {
    pause(TICK_MS);
  } else {
    Atomics.store(words, ASLEEP, 1);
    // A program may have started between the check above and this line.
    if (Atomics.load(words, STATE) !== ARMED) Atomics.wait(words, ASLEEP, 1);
    idle = 0;
  }
}

/** Interrupts a program over a limit. Returns the milliseconds until the next check. */
function inspect(): number {
  // In a jail all processes end together. Without one, only this thread ends a program whose supervisor has exited, perhaps before this thread began.
  if (process.ppid !== supervisor) process.kill(process.pid, "SIGKILL");
  const leftMs = (limits[LIMIT.deadline] as number) - now();
  const { user, system } = process.cpuUsage();
  const cpuLeftMs = (limits[LIMIT.cpu] as number) - (user + system) / 1000;
  if (leftMs > 0 && cpuLeftMs > 0) return Math.min(TICK_MS, leftMs, cpuLeftMs);
  // The side that changes the state decides: a program that has just ended is not interrupted.
  if (Atomics.compareExchange(words, STATE, ARMED, FIRING) === ARMED) {
    Atomics.store(words, CAUSE, leftMs > 0 ? 2 : 1);
    process.kill(process.pid, "SIGINT");
  }
  return TICK_MS;
}

function pause(ms: number): void {
  Atomics.wait(words, ASLEEP, 0, ms);
}
