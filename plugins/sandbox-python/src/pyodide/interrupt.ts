import { Script } from "node:vm";
import { Worker } from "node:worker_threads";
import { ARMED, ASLEEP, CAUSE, type Clock, IDLE, LIMIT, makeClock, now, STATE } from "./clock.ts";

/** Thrown when a limit ends the program. */
export class Interrupted {
  readonly verdict: "timeout" | "cpu-limit";

  constructor(verdict: "timeout" | "cpu-limit") {
    this.verdict = verdict;
  }
}

/** Data of the second thread. */
export interface InterruptData {
  readonly clock: Clock;
  /** Process that started this one. */
  readonly supervisor: number;
}

/** Global name of the function that the script below calls. */
const SLOT = "mrlmGuarded";
const holder = globalThis as unknown as Record<string, () => void>;

/**
 * Runs functions that a second thread can interrupt, also in WebAssembly code. The thread sends SIGINT to this process, and `breakOnSigint` makes
 * V8 abort the execution. (The option `timeout` does the same, but starts a thread for each call, which takes a millisecond.)
 */
export class Interrupter {
  readonly #clock: Clock = makeClock();
  readonly #script = new Script(`${SLOT}()`);

  #cpuStartMs = 0;

  /** @param supervisor process that started this one: a program that runs when it has ended is killed */
  constructor(worker: URL, supervisor: number) {
    const workerData: InterruptData = { clock: this.#clock, supervisor };
    new Worker(worker, { workerData, env: {}, execArgv: ["--no-warnings"] }).unref();
  }

  /** Calls `main`, inside which all calls of `run` must occur: the thread that waits for signals then starts only once. */
  keepReady(main: () => void): void {
    holder[SLOT] = main;
    this.#script.runInThisContext({ breakOnSigint: true });
  }

  /** Sets the limits of the next calls of `run`, in milliseconds from now. */
  limit({ wallMs, cpuMs }: { readonly wallMs: number; readonly cpuMs: number }): void {
    const { user, system } = process.cpuUsage();
    this.#cpuStartMs = (user + system) / 1000;
    this.#clock.limits[LIMIT.deadline] = now() + wallMs;
    this.#clock.limits[LIMIT.cpu] = this.#cpuStartMs + cpuMs;
  }

  /** Returns the milliseconds of processor time since `limit`. */
  cpuMs(): number {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000 - this.#cpuStartMs;
  }

  /** Returns the result of `act`. Throws Interrupted, or the error of `act`. */
  run<T>(act: () => T): T {
    const { words } = this.#clock;
    let ended: { readonly value: T } | { readonly error: unknown } | undefined;
    holder[SLOT] = () => {
      try {
        ended = { value: act() };
      } catch (error) {
        ended = { error };
      }
      // The signal has been sent: wait for it here, inside the interruptible code.
      while (Atomics.compareExchange(words, STATE, ARMED, IDLE) !== ARMED);
    };
    Atomics.store(words, STATE, ARMED);
    if (Atomics.load(words, ASLEEP) === 1) {
      Atomics.store(words, ASLEEP, 0);
      Atomics.notify(words, ASLEEP);
    }
    try {
      this.#script.runInThisContext({ breakOnSigint: true });
    } catch {
      Atomics.store(words, STATE, IDLE);
      throw new Interrupted(Atomics.load(words, CAUSE) === 2 ? "cpu-limit" : "timeout");
    }
    const outcome = ended as { readonly value: T } | { readonly error: unknown };
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }
}
