import type { AgentId, TaskId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { Reward } from "./reward.ts";

/** Why sampling of a turn ended. */
export type StopReason = "stop" | "length" | "cancelled";

/**
 * Tokens that the model saw and chose, as one prefix-preserving sequence. All arrays have the length of `tokens`.
 *
 * Token in, token out: what was sampled is stored as it was sampled and never re-tokenised.
 */
export interface Segment {
  readonly tokens: Int32Array;
  /** Log-probability of each sampled token under the distribution it was drawn from; 0 where the mask is 0. */
  readonly logprobs: Float32Array;
  /** 1 on tokens that the policy chose. */
  readonly mask: Uint8Array;
  /** Weight version that sampled the token; -1 where the mask is 0. */
  readonly versions: Int32Array;
  /** Index of the segment that this one continues after its prefix was rewritten; `null` for the first. */
  readonly parent: number | null;
}

/** One turn of one agent. */
export interface TurnRecord {
  readonly agent: AgentId;
  /** New messages of the observation that the agent answers; the history is in the turns before. */
  readonly messages: readonly Message[];
  /** The policy's message. */
  readonly response: Message;
  /** Where the sampled tokens stand: `segments[segment].tokens[start, end)` of the agent's trajectory. */
  readonly segment: number;
  readonly start: number;
  readonly end: number;
  readonly stopReason: StopReason;
  /** Every agent's reward for the step that this turn took. */
  readonly rewards: Readonly<Record<AgentId, Reward>>;
}

/** How an agent's part of an episode ended. */
export interface AgentEnd {
  readonly terminated: boolean;
  readonly truncated: boolean;
  /** What set the limit when truncated. */
  readonly truncatedBy?: "environment" | "turns" | "tokens";
}

/** One agent's part of an episode, down to the tokens. */
export interface AgentTrajectory {
  readonly segments: readonly Segment[];
  /** Sum of the scored rewards, or unscored if any reward was. */
  readonly total: Reward;
  readonly end: AgentEnd;
}

/** What became of one episode. */
export interface Trajectory {
  /** Unique in the run. */
  readonly id: string;
  readonly environment: string;
  readonly task: TaskId;
  readonly seed: number | null;
  /** Episodes of the same task and seed share it. */
  readonly group: string;
  /** Position in the group. */
  readonly member: number;
  readonly turns: readonly TurnRecord[];
  readonly agents: Readonly<Record<AgentId, AgentTrajectory>>;
  /** Set when the episode failed; then `agents` and `turns` hold what there was before. */
  readonly error?: { readonly code: string; readonly message: string };
  readonly info?: JsonObject;
  /** Seconds spent waiting for the sampler and for the environment. */
  readonly seconds: { readonly sampling: number; readonly environment: number };
}

/** Episodes of the same task and seed, failed ones included. */
export interface TrajectoryGroup {
  readonly id: string;
  readonly task: TaskId;
  readonly trajectories: readonly Trajectory[];
}
