import { MrlmError, type SampleRequest, type SampleResult, type Sampler } from "@mrlm/spec";
import type { BigramModel } from "./model.ts";
import { sampleSequence } from "./sampling.ts";

interface Waiting {
  readonly request: SampleRequest;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (result: SampleResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Samples each wave at its barrier, in the order of submission. */
export class BigramSampler implements Sampler {
  readonly #model: BigramModel;
  #waiting: Waiting[] = [];
  #isClosed = false;

  constructor(model: BigramModel) {
    this.#model = model;
  }

  async sample(request: SampleRequest, options: { readonly signal?: AbortSignal } = {}): Promise<SampleResult> {
    if (this.#isClosed) throw new MrlmError("CANCELLED", "The sampler has been closed.");
    const { signal } = options;
    const { promise, resolve, reject } = Promise.withResolvers<SampleResult>();
    const waiting: Waiting = { request, signal, resolve, reject };
    this.#waiting.push(waiting);
    const onAbort = (): void => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      resolve(cancelled());
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
    const { published, version, maxPositions } = this.#model;
    for (const { request, resolve, reject } of wave) {
      try {
        resolve(sampleSequence(published, request, { version, maxPositions }));
      } catch (error) {
        reject(error);
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { resolve } of this.#waiting) resolve(cancelled());
    this.#waiting = [];
  }
}

function cancelled(): SampleResult {
  return {
    tokens: new Int32Array(),
    logprobs: new Float32Array(),
    versions: new Int32Array(),
    stopReason: "cancelled",
    truncatedSupport: false,
  };
}
