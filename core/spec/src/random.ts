/** Seeded stream of random numbers. The same name and seed give the same stream on every machine. */
export interface RandomStream {
  /** Draws uniformly from [0, 1) with 53 bits. */
  next(): number;
  /** Draws an integer uniformly from `low` to `high`, both included. */
  integer(low: number, high: number): number;
  /** Draws one element uniformly. */
  pick<T>(items: readonly T[]): T;
  /** Returns a new array in random order (Fisher-Yates). */
  shuffle<T>(items: readonly T[]): T[];
  /** Returns another stream, which depends on the names and the seed but not on the position of this stream. */
  fork(name: string | number): RandomStream;
  /** Returns the position for `restore`. */
  state(): string;
  restore(state: string): void;
}
