import { type Action, type AgentId, MrlmError, type Observation, type Player, type Policy } from "@mrlm/spec";
import { type EpisodePlan, scriptedSeed } from "./episode-plan.ts";

/** Scripted policies of one episode, one for each agent that a script plays. */
export class ScriptedAgents {
  readonly #plan: EpisodePlan;
  readonly #policies = new Map<AgentId, Promise<Policy>>();

  constructor(plan: EpisodePlan) {
    this.#plan = plan;
  }

  /** Returns the action of an agent. */
  async act(player: Player & { readonly kind: "scripted" }, observation: Observation): Promise<Action> {
    const { id, identity, signal } = this.#plan;
    const { agent } = observation;
    const policy = this.#policies.get(agent) ?? player.create(scriptedSeed(identity, agent));
    this.#policies.set(agent, policy);
    try {
      return await (await policy).act(observation, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new MrlmError("CANCELLED", `Episode ${id} was cancelled.`, { cause: error });
    }
  }
}
