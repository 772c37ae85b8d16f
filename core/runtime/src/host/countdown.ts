/** Node ends a longer timer at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Timer that can be paused, and restarted up to a ceiling. */
export class Countdown {
  #left: number;
  /** Time left until the ceiling. */
  #ceiling: number;
  readonly #expired: () => void;
  #timer: NodeJS.Timeout | undefined;
  #since = 0;
  /** Number of running gradings. */
  #pauses = 0;

  constructor(milliseconds: number, expired: () => void, ceiling = milliseconds) {
    this.#left = Math.min(milliseconds, ceiling);
    this.#ceiling = ceiling;
    this.#expired = expired;
    this.#start();
  }

  /** Whether no restart could have given more time. */
  get isAtCeiling(): boolean {
    return this.#left >= this.#ceiling;
  }

  pause(): void {
    if (this.#pauses++ > 0 || this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#elapse();
  }

  resume(): void {
    if (--this.#pauses === 0 && this.#timer !== undefined) this.#start();
  }

  /** Counts from `milliseconds` again, but not beyond the ceiling. */
  restart(milliseconds: number): void {
    if (this.#timer === undefined) return;
    if (this.#pauses === 0) {
      clearTimeout(this.#timer);
      this.#elapse();
    }
    this.#left = Math.min(milliseconds, this.#ceiling);
    if (this.#pauses === 0) this.#start();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #elapse(): void {
    const elapsed = performance.now() - this.#since;
    this.#left -= elapsed;
    this.#ceiling -= elapsed;
  }

  #start(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(this.#expired, Math.min(LONGEST_TIMER_MS, Math.max(0, this.#left)));
  }
}
