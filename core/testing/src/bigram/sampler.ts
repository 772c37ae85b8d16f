import { MrlmError } from "@mrlm/spec";
import type { SampleOptions, Sampler, SampleRequest, SampleResult } from "@mrlm/spec/host";
import type { BigramModel } from "./model.ts";
import { BigramSequence } from "./sampling.ts";

interface Waiting {
  readonly request: SampleRequest;
  readonly options: SampleOptions;
  readonly resolve: (result: SampleResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Samples sequences: each wave at its barrier, in the order of submission, or without `waves` each sequence at once, one token in each turn of the event
 * loop, from the weights that are published at that time.
 */
export class BigramSampler implements Sampler {
  readonly #model: BigramModel;
  readonly #waves: boolean;
  readonly #closed = new AbortController();
  #waiting: Waiting[] = [];

  constructor(model: BigramModel, waves: boolean) {
    this.#model = model;
    this.#waves = waves;
  }

  async sample(request: SampleRequest, options: SampleOptions = {}): Promise<SampleResult> {
    if (this.#closed.signal.aborted) throw new MrlmError("CANCELLED", "The sampler has been closed.");
    if (!this.#waves) return this.#sampleAtOnce(request, options);
    const { signal } = options;
    const { promise, resolve, reject } = Promise.withResolvers<SampleResult>();
    const waiting: Waiting = { request, options, resolve, reject };
    this.#waiting.push(waiting);
    const onAbort = (): void => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      resolve(CANCELLED);
    };
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  barrier(): void {
    const wave = this.#waiting;
    this.#waiting = [];
    for (const { request, options, resolve, reject } of wave) {
      try {
        const sequence = this.#sequence(request);
        while (sequence.stopReason === undefined && !options.signal?.aborted) this.#draw(sequence, options);
        resolve(sequence.result(sequence.stopReason ?? "cancelled"));
      } catch (error) {
        reject(error);
      }
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    for (const { resolve } of this.#waiting) resolve(CANCELLED);
    this.#waiting = [];
  }

  async #sampleAtOnce(request: SampleRequest, options: SampleOptions): Promise<SampleResult> {
    const sequence = this.#sequence(request);
    const isEnded = (): boolean => options.signal?.aborted === true || this.#closed.signal.aborted;
    while (sequence.stopReason === undefined && !isEnded()) {
      this.#draw(sequence, options);
      await new Promise((resolve) => setImmediate(resolve));
    }
    return sequence.result(sequence.stopReason ?? "cancelled");
  }

  #sequence(request: SampleRequest): BigramSequence {
    const { maxPositions, parameters } = this.#model;
    return new BigramSequence(request, { maxPositions, vocabSize: parameters.vocabSize });
  }

  #draw(sequence: BigramSequence, { onTokens }: SampleOptions): void {
    const chunk = sequence.draw(this.#model.published, this.#model.version);
    onTokens?.(chunk);
  }
}

const CANCELLED: SampleResult = {
  tokens: new Int32Array(),
  logprobs: new Float32Array(),
  versions: new Int32Array(),
  stopReason: "cancelled",
  truncatedSupport: false,
};
