import type { AgentId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { ToolDefinition } from "./tool.ts";

/** Input of the next agent to act. */
export interface Observation {
  /** The next agent to act; empty after the end of the episode for all agents. */
  readonly agent: AgentId;
  /** New messages since the last observation of this agent; never the history. */
  readonly messages: readonly Message[];
  /** Whether the conversation of this agent starts over: earlier messages are not shown again. */
  readonly isFresh?: boolean;
  /** Tools from this turn on; omitted if they have not changed. */
  readonly tools?: readonly ToolDefinition[];
  /** Most tokens of the answer, where that is less than the limit of the player. */
  readonly maxTokens?: number;
  /**
   * Data for logs and wrappers. A policy does not receive it. The string `stateKey` names the state in which the agent acts: `credit: state` of `grpo@1` compares
   * the turns of a group that have equal keys. The number `difficulty` of the first observation is that of the task, for a `curriculum` of training.
   */
  readonly info?: JsonObject;
}
