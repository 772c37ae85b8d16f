/** A seeded stream of random numbers. The same name and seed give the same stream on every machine. */
export interface RandomStream {
  /** Uniform in [0, 1) with 53 bits. */
  next(): number;
  /** Uniform integer in [low, high], both included. */
  integer(low: number, high: number): number;
  /** One element, uniformly. */
  pick<T>(items: readonly T[]): T;
  /** A new array in random order (Fisher-Yates). */
  shuffle<T>(items: readonly T[]): T[];
  /** A stream of its own, independent of this one's position. */
  fork(name: string | number): RandomStream;
  /** Serialisable position. */
  state(): string;
  restore(state: string): void;
}
