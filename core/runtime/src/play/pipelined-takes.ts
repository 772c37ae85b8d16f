import { type PlayedTake, newestVersion, type PlayingWeights, type TakePlace, type TakePlayer } from "./take-player.ts";
import type { SourcedTake, SourceState, TakeSource } from "./take-source.ts";

export interface PipelineParts {
  readonly player: TakePlayer;
  /** Number of takes that are played while the one before them is learnt from. */
  readonly lag: number;
  /** Number of the last take of the stage. */
  readonly lastTake: number;
  /** Iterations from one take to the next. */
  readonly every: number;
  publish(): Promise<PlayingWeights>;
  readonly signal: AbortSignal;
}

/** Take that is played, or was. */
interface AheadTake {
  readonly step: number;
  readonly weights: PlayingWeights;
  readonly take: Promise<PlayedTake>;
}

/**
 * Plays up to `lag` later takes while an earlier one is learnt from; with a lag of 0, the mode `sync`, nothing is learnt while a take is played. Take n, from
 * 1, is played with the policy after max(0, n - 1 - lag) takes of the stage, so that every bit follows from the configuration. Takes are played one after the other: the tasks of one follow from the replacements of the one before. Weights are
 * published between two takes only, when nothing is played.
 */
export class PipelinedTakes implements TakeSource {
  readonly #parts: PipelineParts;
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  #ahead: AheadTake[] = [];
  /** Ends with the newest take that was begun. */
  #last: Promise<unknown> = Promise.resolve();
  #restored: readonly PlayingWeights[];
  #idleSince: number | undefined;
  #idle = 0;

  constructor(parts: PipelineParts, { ahead = [] }: SourceState = {}) {
    this.#parts = parts;
    this.#restored = ahead;
    this.#signal = AbortSignal.any([parts.signal, this.#stop.signal]);
  }

  async next(place: TakePlace): Promise<SourcedTake> {
    const { lag, lastTake } = this.#parts;
    for (const [i, weights] of this.#restored.entries()) this.#begin(this.#placeOf(place, i), weights, false);
    this.#restored = [];
    await this.settled();
    const began = performance.now();
    const weights = await this.#parts.publish();
    const publish = (performance.now() - began) / 1000;
    const newestBegun = this.#ahead.at(-1)?.step ?? place.step - 1;
    // The take that is asked for is played wherever the stage ends.
    const newest = Math.max(place.step, Math.min(place.step + lag, lastTake));
    for (let step = newestBegun + 1; step <= newest; step++)
      this.#begin(this.#placeOf(place, step - place.step), weights, true);
    const [first] = this.#ahead as [AheadTake];
    const take = await first.take;
    this.#ahead = this.#ahead.slice(1);
    const rolloutsWaited = this.#idle;
    this.#idle = 0;
    return { ...take, newestOf: (policy) => newestVersion(policy, take), seconds: { publish }, rolloutsWaited };
  }

  state(): SourceState {
    if (this.#parts.lag === 0) return {};
    return { ahead: [...this.#ahead.map(({ weights }) => weights), ...this.#restored] };
  }

  async settled(): Promise<void> {
    for (const { take } of this.#ahead) await take;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#ahead.map(({ take }) => take));
  }

  #placeOf({ step, iteration, runStep }: TakePlace, later: number): TakePlace {
    const iterations = later * this.#parts.every;
    return { step: step + later, iteration: iteration + iterations, runStep: runStep + iterations };
  }

  #begin(place: TakePlace, weights: PlayingWeights, mayPlay: boolean): void {
    const take = this.#last.then(() => {
      if (this.#idleSince !== undefined) this.#idle += (performance.now() - this.#idleSince) / 1000;
      this.#idleSince = undefined;
      return this.#parts.player.play(place, weights, this.#signal, mayPlay);
    });
    this.#last = take.finally(() => (this.#idleSince = performance.now()));
    // The learner meets its error when it asks for the take.
    this.#last.catch(() => undefined);
    this.#ahead.push({ step: place.step, weights, take });
  }
}
