import type { AgentId, TaskId } from "./id.ts";
import type { Message } from "./message.ts";
import type { ToolDefinition } from "./tool.ts";

/** A worked solution: the whole conversation, the agent's own messages included. */
export interface Demonstration {
  readonly task: TaskId;
  readonly agent: AgentId;
  /** Messages of role `assistant` are the ones to learn. */
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolDefinition[];
}
