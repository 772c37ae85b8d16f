import type { AgentId } from "./id.ts";
import type { Message } from "./message.ts";

/** One message of one agent: the input of `step`. */
export interface Action {
  readonly agent: AgentId;
  /** Role `assistant`. */
  readonly message: Message;
  /** `length`: sampling stopped at the token limit, so the message may be incomplete. */
  readonly finishReason: "stop" | "length";
}
