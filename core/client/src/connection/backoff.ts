/** Growing pauses between attempts to reach a server, with jitter so that many clients do not come back at once. */
export class Backoff {
  readonly #firstMs = 50;
  readonly #longestMs = 2_000;
  #nextMs = this.#firstMs;

  /** Milliseconds to wait before the next attempt. */
  next(): number {
    const pause = this.#nextMs * (0.8 + 0.4 * Math.random());
    this.#nextMs = Math.min(this.#nextMs * 1.6, this.#longestMs);
    return pause;
  }

  /** An attempt succeeded. */
  reset(): void {
    this.#nextMs = this.#firstMs;
  }
}
