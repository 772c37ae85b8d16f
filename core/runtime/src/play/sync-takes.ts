import { newestVersion, type PlayingWeights, type TakePlace, type TakePlayer } from "./take-player.ts";
import type { SourcedTake, TakeSource } from "./take-source.ts";

/** Plays each take with the weights that the take before has led to: nothing is learnt while it is played. */
export class SyncTakes implements TakeSource {
  readonly #player: TakePlayer;
  readonly #publish: () => Promise<PlayingWeights>;
  readonly #signal: AbortSignal;

  constructor(player: TakePlayer, publish: () => Promise<PlayingWeights>, signal: AbortSignal) {
    this.#player = player;
    this.#publish = publish;
    this.#signal = signal;
  }

  async next(place: TakePlace): Promise<SourcedTake> {
    const began = performance.now();
    const weights = await this.#publish();
    const publish = (performance.now() - began) / 1000;
    const take = await this.#player.play(place, weights, this.#signal);
    return { ...take, newestOf: (policy) => newestVersion(policy, take), seconds: { publish }, rolloutsWaited: 0 };
  }

  state(): Record<string, never> {
    return {};
  }

  async settled(): Promise<void> {}
  async close(): Promise<void> {}
}
