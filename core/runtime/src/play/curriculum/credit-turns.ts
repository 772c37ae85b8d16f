/**
 * Turns by shares that may change: in each turn every source gains its share, and the one that has most pays 1 (smooth weighted round robin). The number of turns of
 * each of n sources differs from the sum of its shares by less than n.
 */
export class CreditTurns {
  #shares: readonly number[];
  #credits: number[];

  /** @param shares >= 0, with the sum 1 */
  constructor(shares: readonly number[]) {
    this.#shares = shares;
    this.#credits = shares.map(() => 0);
  }

  get shares(): readonly number[] {
    return this.#shares;
  }

  set shares(shares: readonly number[]) {
    this.#shares = shares;
  }

  /** Returns the index of the source on turn. */
  next(): number {
    this.#credits = this.#credits.map((credit, i) => credit + (this.#shares[i] as number));
    const turn = this.#credits.indexOf(Math.max(...this.#credits));
    this.#credits[turn] = (this.#credits[turn] as number) - 1;
    return turn;
  }

  state(): number[] {
    return [...this.#credits];
  }

  restore(credits: readonly number[]): void {
    this.#credits = [...credits];
  }
}
