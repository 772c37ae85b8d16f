import type { ModelId } from "@mrlm/spec";
import type { Sampler, SampleRequest, SampleResult } from "@mrlm/spec/host";

interface Waiting {
  readonly order: number;
  readonly model: ModelId;
  readonly request: SampleRequest;
  /** Seconds for which policies of plugins had held the gate when the request arrived. */
  readonly heldBefore: number;
  readonly onHeld: (seconds: number) => void;
  readonly resolve: (result: Promise<SampleResult>) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gate for deterministic sampling of the turns of all live episodes together. It waits until each live episode has requested its next turn or has ended, and
 * then submits all requests in the order of the episodes. So the contents of a batch never depend on the order of arrival.
 *
 * A turn of a policy of a plugin is no request of a wave. The gate waits for it as for the environment, and reports this wait apart: one slow endpoint
 * delays all episodes.
 */
export class TurnGate {
  readonly #samplerOf: (model: ModelId) => Promise<Sampler>;
  readonly #refill: () => number;
  readonly #signal: AbortSignal;
  #live = 0;
  #waiting: Waiting[] = [];
  /** Number of live episodes that wait for a policy of a plugin. */
  #outside = 0;
  /** Total time in which nothing but policies of plugins kept the gate closed, and the begin of such a time that has not ended. */
  #heldSeconds = 0;
  #heldSince: number | undefined;

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
    this.#measure();
  }

  leave(): void {
    this.#live--;
    this.#measure();
    this.#openIfAllWait();
  }

  /** @param onHeld receives the part of the wait in which nothing but policies of plugins kept the gate closed, in seconds */
  sample(
    order: number,
    model: ModelId,
    request: SampleRequest,
    onHeld: (seconds: number) => void,
  ): Promise<SampleResult> {
    const { promise, resolve, reject } = Promise.withResolvers<SampleResult>();
    this.#measure();
    this.#waiting.push({ order, model, request, heldBefore: this.#heldSeconds, onHeld, resolve, reject });
    this.#measure();
    this.#openIfAllWait();
    return promise;
  }

  /** Waits for a policy of a plugin. */
  async outside<T>(work: () => Promise<T>): Promise<T> {
    this.#outside++;
    this.#measure();
    try {
      return await work();
    } finally {
      this.#outside--;
      this.#measure();
    }
  }

  #measure(): void {
    const now = performance.now();
    if (this.#heldSince !== undefined) this.#heldSeconds += (now - this.#heldSince) / 1000;
    const isHeld = this.#outside > 0 && this.#waiting.length > 0 && this.#waiting.length + this.#outside === this.#live;
    this.#heldSince = isHeld ? now : undefined;
  }

  #openIfAllWait(): void {
    if (this.#waiting.length < this.#live || this.#refill() > 0 || this.#waiting.length === 0) return;
    const wave = this.#waiting.sort((a, b) => a.order - b.order);
    this.#waiting = [];
    for (const { heldBefore, onHeld } of wave) onHeld(this.#heldSeconds - heldBefore);
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
