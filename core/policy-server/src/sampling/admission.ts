import { Places } from "@mrlm/kit";
import { ApiError } from "@mrlm/kit/gateway";

/** Limits of the sequences of a server. */
export interface SequenceLimits {
  /** Sequences that the engine samples at a time. Default: 256. */
  readonly maxRunning?: number;
  /** Sequences that wait for others to end; more are refused with status 429. Default: 1,024. */
  readonly maxQueued?: number;
}

/** Bounded queue of sequences. */
export class Admission {
  readonly #places: Places;
  readonly #limit: number;
  readonly #maxRunning: number;
  /** Sequences admitted and not ended. */
  #admitted = 0;

  constructor({ maxRunning = 256, maxQueued = 1_024 }: SequenceLimits) {
    this.#places = new Places(maxRunning);
    this.#maxRunning = maxRunning;
    this.#limit = maxRunning + maxQueued;
  }

  get running(): number {
    return Math.min(this.#admitted, this.#maxRunning);
  }

  get queued(): number {
    return this.#admitted - this.running;
  }

  /** Refuses a request that has more sequences than the server takes at any time. Throws ApiError with status 400. */
  check(sequences: number, param: "n" | "prompt"): void {
    if (sequences > this.#limit)
      throw new ApiError(400, "invalid_value", `A request may have ${this.#limit} sequences, not ${sequences}.`, {
        param,
      });
  }

  /** Admits the sequences of a request, all or none. Throws ApiError with status 429. */
  admit(sequences: number): void {
    if (this.#admitted + sequences > this.#limit)
      throw new ApiError(
        429,
        "rate_limit_exceeded",
        `The server has ${this.#admitted} sequences, and takes ${this.#limit} at a time.`,
        { retryAfterSeconds: 1 },
      );
    this.#admitted += sequences;
  }

  /** Works on one admitted sequence when it has a place. Rejects with the signal's reason when it is aborted before. */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    try {
      return await this.#places.hold({ signal }, work);
    } finally {
      this.#admitted--;
    }
  }
}
