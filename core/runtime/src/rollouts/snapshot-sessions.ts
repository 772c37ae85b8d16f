import { type Action, type Logger, MrlmError, type Observation, type StepResult } from "@mrlm/spec";
import type { EnvironmentHost, EnvironmentSession } from "@mrlm/spec/host";
import type { EpisodeSession } from "./episode.ts";
import type { EpisodePlan, EpisodeStates } from "./episode-plan.ts";
import type { ResilientSession } from "./resilient-session.ts";

/** Session of an episode whose states are kept for its branches. */
export class KeepingSession implements EpisodeSession {
  readonly #session: ResilientSession;
  readonly #states: EpisodeStates;

  constructor(session: ResilientSession, states: EpisodeStates) {
    this.#session = session;
    this.#states = states;
  }

  async reset(): Promise<Observation> {
    this.#states.steps.length = 0;
    return (this.#states.first = await this.#session.reset());
  }

  async step(action: Action): Promise<StepResult> {
    const result = await this.#session.step(action);
    const snapshot = result.observation.agent === "" ? undefined : await this.#session.snapshot();
    this.#states.steps.push({ result, snapshot });
    return result;
  }

  close(): Promise<void> {
    return this.#session.close();
  }
}

/** Session of a branch. It returns what its episode was returned in the repeated turns, and continues in an environment that is restored to the state after them. */
export class RestoredSession implements EpisodeSession {
  readonly #plan: EpisodePlan;
  readonly #host: EnvironmentHost;
  readonly #states: EpisodeStates;
  readonly #repeated: number;
  readonly #logger: Logger;
  #steps = 0;
  #session: EnvironmentSession | undefined;

  constructor(
    plan: EpisodePlan,
    parts: {
      readonly host: EnvironmentHost;
      readonly states: EpisodeStates;
      readonly repeated: number;
      readonly logger: Logger;
    },
  ) {
    const { host, states, repeated, logger } = parts;
    this.#logger = logger;
    this.#plan = plan;
    this.#host = host;
    this.#states = states;
    this.#repeated = repeated;
  }

  async reset(): Promise<Observation> {
    return this.#states.first as Observation;
  }

  async step(action: Action): Promise<StepResult> {
    const { signal } = this.#plan;
    const at = this.#steps++;
    if (at < this.#repeated) return this.#states.steps[at]?.result as StepResult;
    this.#session ??= await this.#restored();
    return this.#session.step(action, { signal });
  }

  async close(): Promise<void> {
    try {
      await this.#session?.close();
    } catch (error) {
      this.#logger.warn(`Closing the session of branch ${this.#plan.id} failed.`, { error: String(error) });
    }
  }

  async #restored(): Promise<EnvironmentSession> {
    const { environment, identity, seed, signal } = this.#plan;
    const session = await this.#host.open(environment);
    this.#session = session;
    await session.reset({ task: identity.task, ...(seed === null ? {} : { seed }), signal });
    const state = this.#states.steps[this.#repeated - 1]?.snapshot;
    if (session.restore === undefined || state === undefined)
      throw new MrlmError("INTERNAL", `Environment ${environment.id} has no state before turn ${this.#repeated + 1}.`);
    await session.restore(state, { signal });
    return session;
  }
}
