import { type Logger, type ModelId, MrlmError, type Renderer, type Trajectory } from "@mrlm/spec";
import type { Sampler } from "@mrlm/spec/host";
import { EpisodeLost, type EpisodePorts, type EpisodeSession, playEpisode } from "./episode.ts";
import type { EpisodePlan } from "./episode-plan.ts";
import type { PlayTally } from "./play-tally.ts";
import { PromptCache } from "./prompt-cache.ts";
import { TurnGate } from "./turn-gate.ts";

/** Largest number of restarts of an episode whose session was lost. */
const MAX_RESTARTS = 3;

export interface EpisodePoolOptions {
  readonly plans: readonly EpisodePlan[];
  /** Largest number of concurrent episodes. */
  readonly concurrency: number;
  readonly isDeterministic: boolean;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly tally: PlayTally;
  samplerOf(model: ModelId): Promise<Sampler>;
  renderer(model: ModelId): Renderer;
  session(plan: EpisodePlan): EpisodeSession;
  /** Aborts `signal`: after a failure of the run, its other episodes are not needed. */
  giveUp(): void;
}

/** Plays episodes in the order of their plans with bounded concurrency. */
export class EpisodePool {
  readonly #options: EpisodePoolOptions;
  readonly #ports: EpisodePorts;
  readonly #gate: TurnGate | undefined;
  /** In their order. */
  #waiting: readonly EpisodePlan[];
  #running = 0;
  #failure: { readonly error: unknown } | undefined;
  #done: (plan: EpisodePlan, trajectory: Trajectory) => readonly EpisodePlan[] = () => [];
  readonly #finished = Promise.withResolvers<void>();

  constructor(options: EpisodePoolOptions) {
    const { isDeterministic, samplerOf, signal, renderer, session, logger, tally } = options;
    this.#options = options;
    this.#waiting = options.plans;
    this.#gate = isDeterministic ? new TurnGate(samplerOf, () => this.#startMore(), signal) : undefined;
    this.#ports = {
      session,
      renderer,
      logger,
      prompts: new PromptCache(),
      sample: (plan, model, request, onHeld) =>
        tally.sampling(
          this.#gate?.sample(plan.order, model, request, onHeld) ??
            samplerOf(model).then((sampler) => sampler.sample(request, { signal })),
        ),
      outside: (work) => this.#gate?.outside(work) ?? work(),
    };
  }

  /**
   * Resolves after all episodes. If one fails the run, rejects with its error after the others have ended.
   * @param done receives each episode, and returns further plans
   */
  async play(done: (plan: EpisodePlan, trajectory: Trajectory) => readonly EpisodePlan[]): Promise<void> {
    this.#done = done;
    if (this.#waiting.length === 0) return;
    if (this.#startMore() === 0) this.#settle();
    await this.#finished.promise;
  }

  /** Starts episodes in free places. With a gate this happens only between turns, so that it does not depend on which episode ended first. */
  #startMore(): number {
    const { concurrency, signal } = this.#options;
    const free = signal.aborted ? 0 : Math.min(concurrency - this.#running, this.#waiting.length);
    const started = this.#waiting.slice(0, free);
    this.#waiting = this.#waiting.slice(free);
    for (let i = 0; i < free; i++) {
      this.#running++;
      this.#gate?.enter();
    }
    for (const plan of started) void this.#run(plan);
    return free;
  }

  async #run(plan: EpisodePlan): Promise<void> {
    try {
      const further = this.#done(plan, await this.#playOrRestart(plan));
      if (further.length > 0) this.#waiting = [...this.#waiting, ...further].sort((a, b) => a.order - b.order);
    } catch (error) {
      this.#failure ??= { error };
      this.#options.giveUp();
    } finally {
      this.#running--;
      if (this.#gate === undefined) this.#startMore();
      this.#gate?.leave();
      if (this.#running === 0) this.#settle();
    }
  }

  async #playOrRestart(plan: EpisodePlan): Promise<Trajectory> {
    for (let restarts = 0; ; restarts++) {
      try {
        return await playEpisode(plan, this.#ports, restarts < MAX_RESTARTS);
      } catch (error) {
        if (!(error instanceof EpisodeLost)) throw error;
        this.#options.logger.warn(`${error.message} It begins again.`);
      }
    }
  }

  #settle(): void {
    const { signal } = this.#options;
    if (this.#failure !== undefined) this.#finished.reject(this.#failure.error);
    else if (this.#waiting.length === 0) this.#finished.resolve();
    else if (signal.aborted)
      this.#finished.reject(
        new MrlmError("CANCELLED", "The episodes were given up before all had been played.", { cause: signal.reason }),
      );
  }
}
