import { isDeepStrictEqual } from "node:util";
import {
  type Action,
  type EnvironmentHost,
  type EnvironmentSession,
  type JsonObject,
  type Logger,
  type MrlmError,
  type Observation,
  type StepResult,
} from "@mrlm/spec";
import type { EpisodeSession } from "./episode.ts";
import { EpisodeLost } from "./episode-lost.ts";
import type { EpisodePlan } from "./episode-plan.ts";
import { retry } from "./retry.ts";

export interface ResilientSessionOptions {
  /** Longest wait for a host that refuses sessions, in milliseconds. */
  readonly maxWaitMs: number;
  readonly logger: Logger;
  /** Called before the session is opened again. */
  onLoss(error: MrlmError): void;
}

/**
 * Session of an episode that continues after its host lost it: it opens another session and repeats the past actions. Only a
 * deterministic environment allows this; the episode of any other is lost and begins again.
 */
export class ResilientSession implements EpisodeSession {
  readonly #plan: EpisodePlan;
  readonly #host: EnvironmentHost;
  readonly #options: ResilientSessionOptions;
  readonly #past: { readonly action: Action; readonly result: StepResult }[] = [];
  #first: Observation | undefined;
  #live: EnvironmentSession | undefined;
  /** Latest session, which may be lost. */
  #latest: EnvironmentSession | undefined;

  constructor(plan: EpisodePlan, host: EnvironmentHost, options: ResilientSessionOptions) {
    this.#plan = plan;
    this.#host = host;
    this.#options = options;
  }

  async reset(): Promise<Observation> {
    this.#first = await this.#retry(() => this.#restore());
    return this.#first;
  }

  async step(action: Action): Promise<StepResult> {
    const result = await this.#retry(async () => {
      if (this.#live === undefined) await this.#restore();
      return (this.#live as EnvironmentSession).step(action, { signal: this.#plan.signal });
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

  /** Opens a session and repeats the past actions in it. */
  async #restore(): Promise<Observation> {
    const { environment, identity, seed, signal, description } = this.#plan;
    if (this.#past.length > 0 && description.determinism === "none")
      throw new EpisodeLost(this.#plan.id, `environment ${description.id} cannot be brought back to where it was`);
    const session = await this.#host.open(environment, this.#latest === undefined ? {} : { restores: this.#latest });
    this.#live = session;
    this.#latest = session;
    const observation = await session.reset({ task: identity.task, ...(seed === null ? {} : { seed }), signal });
    if (this.#past.length > 0) this.#compare(observation, this.#first);
    for (const { action, result } of this.#past) this.#compare(await session.step(action, { signal }), result);
    return observation;
  }

  #compare(now: Observation | StepResult, before: Observation | StepResult | undefined): void {
    if (isDeepStrictEqual(withoutServices(now), withoutServices(before))) return;
    this.#options.logger.warn(
      `Environment ${this.#plan.description.id} promises to be deterministic but answered otherwise when episode ${this.#plan.id} was repeated.`,
    );
    throw new EpisodeLost(this.#plan.id, "its environment answered otherwise when it was repeated");
  }

  #retry<T>(work: () => Promise<T>): Promise<T> {
    const { maxWaitMs, onLoss } = this.#options;
    return retry(work, {
      maxWaitMs,
      signal: this.#plan.signal,
      onLoss: (error) => {
        void this.close();
        onLoss(error);
      },
    });
  }
}

/** The host adds usage of tools and judgements to the info of a step. Seconds, and texts of a model that judges, differ in each repetition. */
function withoutServices<T extends { readonly info?: JsonObject } | undefined>(result: T): unknown {
  if (result?.info?.["tools"] === undefined && result?.info?.["judgements"] === undefined) return result;
  const { tools: _, judgements: __, ...info } = result.info;
  return { ...result, info };
}
