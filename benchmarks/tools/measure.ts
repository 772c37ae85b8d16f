/** Durations of calls in milliseconds. */
export class Durations {
  readonly #times: number[] = [];

  async measure(call: () => Promise<unknown>): Promise<void> {
    const begun = performance.now();
    await call();
    this.#times.push(performance.now() - begun);
  }

  at(share: number): number {
    const sorted = this.#times.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  }
}

/** Calls that end per second, over all measured rounds. */
export class Rate {
  #calls = 0;
  #seconds = 0;

  /** Makes calls from several callers, each of which waits for its last call. */
  async measure(callers: readonly (() => Promise<unknown>)[], seconds: number): Promise<void> {
    const begun = performance.now();
    const end = begun + seconds * 1000;
    await Promise.all(
      callers.map(async (call) => {
        for (; performance.now() < end; this.#calls++) await call();
      }),
    );
    this.#seconds += (performance.now() - begun) / 1000;
  }

  get perSecond(): number {
    return this.#calls / this.#seconds;
  }
}

export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}
