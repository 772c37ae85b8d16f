import { setImmediate as turn } from "node:timers/promises";
import type { PlayClock } from "../../src/play/play-clock.ts";

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Time that passes while nothing else can be done: the same simulation has the same order of events in every run. */
export class VirtualClock implements PlayClock {
  #now = 0;
  /** By time, then by the order of their calls; the next one is the last. */
  readonly #sleepers: Sleeper[] = [];

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const stop = (): void => reject(signal?.reason);
      signal?.addEventListener("abort", stop, { once: true });
      this.#add(this.#now + ms, () => {
        signal?.removeEventListener("abort", stop);
        resolve();
      });
    });
  }

  /** Lets time pass until a promise is settled. Rejects where nothing is left to wait for. */
  async run<T>(end: Promise<T>): Promise<T> {
    let isEnded = false;
    const ended = (): void => void (isEnded = true);
    end.then(ended, ended);
    for (;;) {
      // Stores of this thread answer in microtasks: after a turn of the event loop every process of the simulation sleeps.
      await turn();
      if (isEnded) return end;
      const next = this.#sleepers.pop();
      if (next === undefined) throw new Error(`Everything waits for ever, ${this.#now} ms after the begin.`);
      this.#now = next.at;
      next.wake();
    }
  }

  #add(at: number, wake: () => void): void {
    let [low, high] = [0, this.#sleepers.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sleepers[middle] as Sleeper).at > at) low = middle + 1;
      else high = middle;
    }
    this.#sleepers.splice(low, 0, { at, wake });
  }
}

/** Clock of a process that is stopped (SIGSTOP) between some times: what falls into them happens at their end. */
export function stoppedWithin(clock: VirtualClock, stops: readonly (readonly [from: number, to: number])[]): PlayClock {
  return {
    now: () => clock.now(),
    async sleep(ms, signal) {
      await clock.sleep(ms, signal);
      const stop = stops.find(([from, to]) => from <= clock.now() && clock.now() < to);
      if (stop !== undefined) await clock.sleep(stop[1] - clock.now(), signal);
    },
  };
}
