import type { AgentId } from "./id.ts";
import type { Message } from "./message.ts";

/** One message of one agent: the input of `step`. */
export interface Action {
  readonly agent: AgentId;
  /** Role `assistant`. */
  readonly message: Message;
  /**
   * - `length`: sampling stopped at the token limit, so the message may be incomplete.
   * - `exhausted`: the agent's context is full. The message is empty, and the agent takes no further turn: the environment continues without it, or ends.
   */
  readonly finishReason: "stop" | "length" | "exhausted";
}
