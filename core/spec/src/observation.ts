import type { AgentId } from "./id.ts";
import type { JsonObject } from "./json.ts";
import type { Message } from "./message.ts";
import type { ToolDefinition } from "./tool.ts";

/** What the next agent to act gets to see. */
export interface Observation {
  /** Who acts next; empty once the episode has ended for everybody. */
  readonly agent: AgentId;
  /** What is new since this agent's last observation, never the whole history. */
  readonly messages: readonly Message[];
  /** The tools from now on; omitted when nothing changed. */
  readonly tools?: readonly ToolDefinition[];
  /** For logs and wrappers; policies are not shown it. */
  readonly info?: JsonObject;
}
