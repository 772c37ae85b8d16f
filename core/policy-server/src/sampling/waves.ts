import type { SampleOptions, Sampler, SampleRequest, SampleResult } from "@mrlm/spec/host";

interface Wave {
  sequences: number;
  isClosed: boolean;
}

/**
 * Sampler of a deterministic engine, which samples in waves: sequences that arrive while a wave runs form the next one. Sequences of other clients of the engine are
 * in waves of their own, whose results do not change.
 */
export class WaveSampler implements Sampler {
  readonly #sampler: Sampler;
  #wave: Wave = { sequences: 0, isClosed: false };
  #isRunning = false;
  #isPlanned = false;

  constructor(sampler: Sampler) {
    this.#sampler = sampler;
  }

  async sample(request: SampleRequest, options?: SampleOptions): Promise<SampleResult> {
    const wave = this.#wave;
    wave.sequences++;
    this.#plan();
    try {
      return await this.#sampler.sample(request, options);
    } finally {
      wave.sequences--;
      if (wave.isClosed && wave.sequences === 0) {
        this.#isRunning = false;
        this.#plan();
      }
    }
  }

  barrier(): void {
    if (this.#isRunning || this.#wave.sequences === 0) return;
    this.#isRunning = true;
    this.#wave.isClosed = true;
    this.#wave = { sequences: 0, isClosed: false };
    this.#sampler.barrier();
  }

  close(): Promise<void> {
    return this.#sampler.close();
  }

  /** Starts a wave after this turn of the event loop, with all sequences that arrive in it. */
  #plan(): void {
    if (this.#isPlanned || this.#isRunning) return;
    this.#isPlanned = true;
    setImmediate(() => {
      this.#isPlanned = false;
      this.barrier();
    });
  }
}
