// The thread that interrupts the main one when a program is past its deadline or its processor time.
import { workerData } from "node:worker_threads";
import { ASLEEP, ARMED, CAUSE, type Clock, FIRING, LIMIT, now, STATE } from "./clock.ts";

/** How often processor time is looked at while programs run. */
const TICK_MS = 20;
/** Ticks without a program after which the thread sleeps until it is woken. */
const IDLE_TICKS = 5;

const { words, limits } = workerData as Clock;
const supervisor = process.ppid;
for (let idle = 0; ;) {
  if (Atomics.load(words, STATE) === ARMED) {
    idle = 0;
    pause(inspect());
  } else if (++idle < IDLE_TICKS) {
    pause(TICK_MS);
  } else {
    Atomics.store(words, ASLEEP, 1);
    // Between the look above and this line a program may have begun.
    if (Atomics.load(words, STATE) !== ARMED) Atomics.wait(words, ASLEEP, 1);
    idle = 0;
  }
}

/** Interrupts if it is time. Returns the milliseconds until the next look. */
function inspect(): number {
  // In a jail all processes end together; without one nobody else would end a program whose supervisor is gone.
  if (process.ppid !== supervisor) process.kill(process.pid, "SIGKILL");
  const leftMs = (limits[LIMIT.deadline] as number) - now();
  const { user, system } = process.cpuUsage();
  const cpuLeftMs = (limits[LIMIT.cpu] as number) - (user + system) / 1000;
  if (leftMs > 0 && cpuLeftMs > 0) return Math.min(TICK_MS, leftMs, cpuLeftMs);
  // Whoever changes the state decides: a program that ends at this moment is not interrupted any more.
  if (Atomics.compareExchange(words, STATE, ARMED, FIRING) === ARMED) {
    Atomics.store(words, CAUSE, leftMs > 0 ? 2 : 1);
    process.kill(process.pid, "SIGINT");
  }
  return TICK_MS;
}

function pause(ms: number): void {
  Atomics.wait(words, ASLEEP, 0, ms);
}
