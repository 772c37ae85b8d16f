import type { Action } from "./action.ts";
import type { AgentId, TaskId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import type { Observation } from "./observation.ts";
import type { Reward } from "./reward.ts";

/** How an episode begins. */
export interface ResetOptions {
  /** Honoured, or refused by an environment whose determinism is `none`. An integer within ±2^53. */
  readonly seed?: number;
  /** The task to set; without it the environment chooses one by the seed. */
  readonly task?: TaskId;
  /** Aborted when the host's deadline passes or the client is gone. */
  readonly signal: AbortSignal;
}

/** What a step led to. Keyed by agent: an environment for one agent has the map with one key. */
export interface StepResult {
  readonly observation: Observation;
  /** One for each agent that earned something by this step; an agent that is left out earned nothing (0). */
  readonly rewards: Readonly<Record<AgentId, Reward>>;
  /** The task itself ended, for this agent. */
  readonly terminated: Readonly<Record<AgentId, boolean>>;
  /** A limit ended it, for this agent. */
  readonly truncated: Readonly<Record<AgentId, boolean>>;
  readonly info?: JsonObject;
}

/**
 * A world that a language model acts in. One instance serves one session.
 *
 * Authors write this and nothing else: the host enforces order (reset before step, nothing after the end), deadlines and the
 * turn limit, and validates what is returned.
 */
export interface SimulatedEnvironment {
  reset(options: ResetOptions): Promise<Observation>;
  step(action: Action, options: { readonly signal: AbortSignal }): Promise<StepResult>;
  close?(): Promise<void>;
}
