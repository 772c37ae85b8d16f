import { isDeepStrictEqual } from "node:util";
import {
  type Action,
  type EnvironmentHost,
  type Logger,
  type MrlmError,
  type Observation,
  type SimulatedEnvironment,
  type StepResult,
} from "@mrlm/spec";
import type { EpisodeSession } from "./episode.ts";
import { EpisodeLost } from "./episode-lost.ts";
import type { EpisodePlan } from "./episode-plan.ts";
import { persist, type Reconnection } from "./persist.ts";

export interface ResilientSessionOptions {
  readonly reconnection: Reconnection;
  readonly logger: Logger;
  /** Told before each wait. */
  onWait(error: MrlmError): void;
}

/**
 * An episode's session that outlives its server: when the session is gone or the server cannot be reached, it waits, opens another,
 * and repeats what had been done. An environment that is not deterministic cannot be brought back: then the episode is lost.
 */
export class ResilientSession implements EpisodeSession {
  readonly #plan: EpisodePlan;
  readonly #host: EnvironmentHost;
  readonly #options: ResilientSessionOptions;
  readonly #past: { readonly action: Action; readonly result: StepResult }[] = [];
  #first: Observation | undefined;
  #live: (SimulatedEnvironment & { close(): Promise<void> }) | undefined;

  constructor(plan: EpisodePlan, host: EnvironmentHost, options: ResilientSessionOptions) {
    this.#plan = plan;
    this.#host = host;
    this.#options = options;
  }

  async reset(): Promise<Observation> {
    this.#first = await this.#persist(() => this.#restore());
    return this.#first;
  }

  async step(action: Action): Promise<StepResult> {
    const result = await this.#persist(async () => {
      if (this.#live === undefined) await this.#restore();
      return (this.#live as SimulatedEnvironment).step(action, { signal: this.#plan.signal });
    });
    this.#past.push({ action, result });
    return result;
  }

  async close(): Promise<void> {
    const live = this.#live;
    this.#live = undefined;
    try {
      await live?.close();
    } catch (error) {
      this.#options.logger.warn(`Closing the session of episode ${this.#plan.id} failed.`, { error: String(error) });
    }
  }

  /** Opens a session and brings it to where the episode was. */
  async #restore(): Promise<Observation> {
    const { environment, identity, seed, signal, description } = this.#plan;
    if (this.#past.length > 0 && description.determinism !== "full")
      throw new EpisodeLost(this.#plan.id, `environment ${description.id} cannot be brought back to where it was`);
    const session = await this.#host.open(environment);
    this.#live = session;
    const observation = await session.reset({ task: identity.task, ...(seed === null ? {} : { seed }), signal });
    if (this.#past.length > 0) this.#compare(observation, this.#first);
    for (const { action, result } of this.#past) this.#compare(await session.step(action, { signal }), result);
    return observation;
  }

  #compare(now: unknown, before: unknown): void {
    if (isDeepStrictEqual(now, before)) return;
    this.#options.logger.warn(
      `Environment ${this.#plan.description.id} promises to be deterministic but answered otherwise when episode ${this.#plan.id} was repeated.`,
    );
    throw new EpisodeLost(this.#plan.id, "its environment answered otherwise when it was repeated");
  }

  #persist<T>(work: () => Promise<T>): Promise<T> {
    const { reconnection, onWait } = this.#options;
    return persist(work, {
      reconnection,
      signal: this.#plan.signal,
      onWait: (error) => {
        void this.close();
        onWait(error);
      },
    });
  }
}
