import {
  type Action,
  type AgentId,
  type Logger,
  MrlmError,
  type Observation,
  type OpenPolicy,
  roleOf,
} from "@mrlm/spec";
import type { Player } from "@mrlm/spec/host";
import { type EpisodePlan, scriptedSeed } from "./episode-plan.ts";

/** Player without a model of the engine: a script of the environment, or a policy of a plugin. */
export type ScriptedPlayer = Player & { readonly kind: "scripted" | "endpoint" };

/** Policies of one episode that no model of the engine plays, one for each agent. */
export class ScriptedAgents {
  readonly #plan: EpisodePlan;
  readonly #logger: Logger;
  readonly #policies = new Map<AgentId, Promise<OpenPolicy>>();

  constructor(plan: EpisodePlan, logger: Logger) {
    this.#plan = plan;
    this.#logger = logger;
  }

  async act(player: ScriptedPlayer, observation: Observation): Promise<Action> {
    const { id, signal } = this.#plan;
    const { agent } = observation;
    const policy = this.#policies.get(agent) ?? this.#open(player, agent);
    this.#policies.set(agent, policy);
    try {
      return await (await policy).act(observation, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new MrlmError("CANCELLED", `Episode ${id} was cancelled.`, { cause: error });
    }
  }

  /** Closes every policy. A failure is a warning: the episode has ended. */
  async close(): Promise<void> {
    for (const policy of this.#policies.values())
      try {
        await (await policy.catch(() => undefined))?.close?.();
      } catch (error) {
        this.#logger.warn(
          `A policy of episode ${this.#plan.id} could not be closed: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
  }

  #open(player: ScriptedPlayer, agent: AgentId): Promise<OpenPolicy> {
    const { identity, description, signal } = this.#plan;
    return player.open({
      environment: description.id,
      task: identity.task,
      role: roleOf(agent),
      agent,
      seed: scriptedSeed(identity, agent),
      sampling: this.#plan.sampling(),
      signal,
    });
  }
}
