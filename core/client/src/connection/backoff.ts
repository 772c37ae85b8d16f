/** Growing pauses between attempts to reach a server, with jitter so that many clients do not reconnect at once. */
export class Backoff {
  readonly #firstMs = 50;
  readonly #longestMs = 2_000;
  #nextMs = this.#firstMs;

  /** Returns the milliseconds to wait before the next attempt. */
  next(): number {
    const pause = this.#nextMs * (0.8 + 0.4 * Math.random());
    this.#nextMs = Math.min(this.#nextMs * 1.6, this.#longestMs);
    return pause;
  }

  /** Starts again with the shortest pause. */
  reset(): void {
    this.#nextMs = this.#firstMs;
  }
}
