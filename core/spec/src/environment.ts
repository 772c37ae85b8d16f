import type { Action } from "./action.ts";
import type { AgentId, TaskId } from "./id.ts";
import type { JsonObject, JsonValue } from "./json.ts";
import type { Observation } from "./observation.ts";
import type { Reward } from "./reward.ts";

/** Start of an episode. */
export interface ResetOptions {
  /** Integer within ±2^53. An environment whose determinism is `none` refuses it with SEED_REFUSED. */
  readonly seed?: number;
  /** Task of the episode; by default the environment chooses one by the seed. */
  readonly task?: TaskId;
  /** Aborted when the deadline passes or the client disconnects. */
  readonly signal: AbortSignal;
}

/** Result of a step. `rewards`, `terminated` and `truncated` have the agents as keys; a single-agent environment has one key. */
export interface StepResult {
  readonly observation: Observation;
  /** Rewards of this step. A missing agent has earned 0. */
  readonly rewards: Readonly<Record<AgentId, Reward>>;
  /** Whether the episode of an agent has ended by the rules of the task. */
  readonly terminated: Readonly<Record<AgentId, boolean>>;
  /** Whether a limit has ended the episode of an agent. */
  readonly truncated: Readonly<Record<AgentId, boolean>>;
  readonly info?: JsonObject;
}

/**
 * Task world in which a language model acts. One instance serves one session: several episodes, one after the other.
 *
 * An author implements these methods only; `snapshot` and `restore` where the definition states `snapshots`. The host enforces the order of calls (`reset` before `step`, no `step` after the end), deadlines and the limit of
 * turns, and validates the results.
 */
export interface SimulatedEnvironment {
  /** Starts an episode and returns its first observation. */
  reset(options: ResetOptions): Promise<Observation>;
  /** Applies the action of the agent that the last observation names. */
  step(action: Action, options: { readonly signal: AbortSignal }): Promise<StepResult>;
  /** Returns the state between two steps, as a JSON value: all that later steps depend on beside the task and the seed. Later steps do not change it. */
  snapshot?(options: { readonly signal: AbortSignal }): Promise<JsonValue>;
  /** Brings an episode that was reset with the task and the seed of a snapshot to its state, perhaps in another instance. */
  restore?(snapshot: JsonValue, options: { readonly signal: AbortSignal }): Promise<void>;
  /** Releases resources. Called once, after the last episode. */
  close?(): Promise<void>;
}
