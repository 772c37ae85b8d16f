import type { AgentId, TaskId } from "./id.ts";
import type { Message } from "./message.ts";
import type { ToolDefinition } from "./tool.ts";

/** Worked solution of a task: the whole conversation, including the messages of the agent. */
export interface Demonstration {
  readonly task: TaskId;
  readonly agent: AgentId;
  /** The messages of role `assistant` are the targets of training. */
  readonly messages: readonly Message[];
  readonly tools?: readonly ToolDefinition[];
}
