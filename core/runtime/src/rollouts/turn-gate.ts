import type { ModelId, SampleRequest, Sampler, SampleResult } from "@mrlm/spec";

interface Waiting {
  readonly order: number;
  readonly model: ModelId;
  readonly request: SampleRequest;
  readonly resolve: (result: Promise<SampleResult>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gate for deterministic sampling of the turns of all live episodes together. It waits until each live episode has requested its next turn or has ended, and
 * then submits all requests in the order of the episodes. So the contents of a batch never depend on the order of arrival.
 */
export class TurnGate {
  readonly #samplerOf: (model: ModelId) => Promise<Sampler>;
  readonly #refill: () => number;
  readonly #signal: AbortSignal;
  #live = 0;
  #waiting: Waiting[] = [];

  /** @param refill starts further episodes while all live ones wait, and returns their number; each of them has entered */
  constructor(samplerOf: (model: ModelId) => Promise<Sampler>, refill: () => number, signal: AbortSignal) {
    this.#samplerOf = samplerOf;
    this.#refill = refill;
    this.#signal = signal;
  }

  get live(): number {
    return this.#live;
  }

  enter(): void {
    this.#live++;
  }

  leave(): void {
    this.#live--;
    this.#openIfAllWait();
  }

  sample(order: number, model: ModelId, request: SampleRequest): Promise<SampleResult> {
    const { promise, resolve, reject } = Promise.withResolvers<SampleResult>();
    this.#waiting.push({ order, model, request, resolve, reject });
    this.#openIfAllWait();
    return promise;
  }

  #openIfAllWait(): void {
    if (this.#waiting.length < this.#live || this.#refill() > 0 || this.#waiting.length === 0) return;
    const wave = this.#waiting.sort((a, b) => a.order - b.order);
    this.#waiting = [];
    void this.#submit(wave);
  }

  async #submit(wave: readonly Waiting[]): Promise<void> {
    try {
      const models = [...new Set(wave.map(({ model }) => model))];
      const samplers = new Map(
        await Promise.all(models.map(async (model) => [model, await this.#samplerOf(model)] as const)),
      );
      for (const { model, request, resolve } of wave)
        resolve((samplers.get(model) as Sampler).sample(request, { signal: this.#signal }));
      for (const sampler of samplers.values()) sampler.barrier();
    } catch (error) {
      for (const { reject } of wave) reject(error);
    }
  }
}
