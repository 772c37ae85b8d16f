import type { AgentId, RoleId, TaskId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { PlayedBy } from "./player.ts";
import type { Reward } from "./reward.ts";
import type { SharedReward } from "./reward-sharing.ts";
import type { ToolDefinition } from "./tool.ts";

/** Cause of the end of a sampled sequence: a stop token, the limit of tokens, or cancellation. */
export type StopReason = "stop" | "length" | "cancelled";

/**
 * Sequence of prompt and sampled tokens of one agent, in which each prompt begins with all earlier tokens. All arrays have the shape [tokens].
 *
 * Sampled tokens are stored as the engine sampled them and are never tokenised again.
 */
export interface Segment {
  readonly tokens: Int32Array;
  /** Log-probability in nats of each sampled token under the distribution from which it was drawn; 0 where the mask is 0. */
  readonly logprobs: Float32Array;
  /** 1 for sampled tokens, else 0. */
  readonly mask: Uint8Array;
  /** Version of the weights that sampled the token; -1 where none was sampled. */
  readonly versions: Int32Array;
  /** Index of the previous segment, whose tokens the chat template rewrote; `null` for the first segment of a conversation. */
  readonly parent: number | null;
}

/** Position of tokens in the trajectory of an agent: `segments[segment].tokens`, from `start` to before `end`. */
export interface TokenSpan {
  readonly segment: number;
  readonly start: number;
  readonly end: number;
}

/** Turn of one agent: observation, response and rewards. */
export interface TurnRecord {
  readonly agent: AgentId;
  /** New messages of the observation that the agent answers; earlier turns hold the history. */
  readonly messages: readonly Message[];
  /** Whether the agent's conversation started over with this observation. */
  readonly isFresh?: boolean;
  /** `info.stateKey` of the observation, if it is a string. */
  readonly state?: string;
  /** `info.difficulty` of the first observation of the episode, if it is a number. */
  readonly difficulty?: number;
  /** Tools of the observation, if it had a list of them. They are valid in later turns too. */
  readonly tools?: readonly ToolDefinition[];
  /** Message of the player, parsed from the sampled tokens where there are some. */
  readonly response: Message;
  /** Position of the sampled tokens in the trajectory of the agent; absent where a script or an endpoint acted. */
  readonly tokens?: TokenSpan;
  /** `exhausted`: the agent's context was full. It read nothing of the observation and produced no message. */
  readonly stopReason: StopReason | "exhausted";
  /** Rewards of all agents for this step. */
  readonly rewards: Readonly<Record<AgentId, Reward>>;
  /** Branches from the state in which the agent acted, in order; absent where none was played. */
  readonly branches?: readonly BranchRecord[];
}

/** Episode that repeats the turns of another one up to a state, and is played on from it with samples of its own. Its tokens are not learnt. */
export interface BranchRecord {
  /** Sum of the rewards that each agent earned after the repeated turns; a missing agent has earned 0. */
  readonly rewards: Readonly<Record<AgentId, Reward>>;
  /** Numbers of its own turns, of the tokens that were sampled in them, and of the turns that the environment repeated before: none with a snapshot. */
  readonly turns: number;
  readonly tokens: number;
  readonly repeated: number;
  /** Set for a failed branch, which has no rewards. */
  readonly error?: NonNullable<Trajectory["error"]>;
}

/** End of an episode for one agent. */
export interface AgentEnd {
  readonly terminated: boolean;
  readonly truncated: boolean;
  /** Source of the limit if `truncated`. */
  readonly truncatedBy?: "environment" | "turns" | "tokens";
}

/** Part of a trajectory of one agent, down to the tokens. */
export interface AgentTrajectory {
  readonly role: RoleId;
  readonly player: PlayedBy;
  readonly segments: readonly Segment[];
  /** Sum of the rewards, or unscored if any reward is unscored. */
  readonly total: Reward;
  /** Reward that the agent learns from where `reward_sharing` states one for its role; `learntReward` of `@mrlm/kit/learning` selects it. */
  readonly shared?: SharedReward;
  readonly end: AgentEnd;
}

/** Record of one episode. */
export interface Trajectory {
  /** Unique in a run. */
  readonly id: string;
  readonly environment: string;
  readonly task: TaskId;
  readonly seed: number | null;
  /** Id of the group: episodes of the same task and seed. */
  readonly group: string;
  /** Index in the group. */
  readonly member: number;
  readonly turns: readonly TurnRecord[];
  readonly agents: Readonly<Record<AgentId, AgentTrajectory>>;
  /** Set for a failed episode. `agents` and `turns` then end before the failure. */
  readonly error?: { readonly code: string; readonly message: string };
  readonly info?: JsonObject;
  /** Wall-clock seconds in which the episode waited for the sampler, for the environment, and for policies of plugins (`players`) where some acted. */
  readonly seconds: { readonly sampling: number; readonly environment: number; readonly players?: number };
}

/** Episodes of the same task, seed and players, including failed ones. */
export interface TrajectoryGroup {
  readonly id: string;
  readonly task: TaskId;
  /** Player of each role in all members, so that a baseline never mixes opponents. */
  readonly players: Readonly<Record<RoleId, PlayedBy>>;
  readonly trajectories: readonly Trajectory[];
}
