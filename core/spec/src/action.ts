import type { AgentId } from "./id.ts";
import type { Message } from "./message.ts";

/** What an agent does: it says one message. */
export interface Action {
  readonly agent: AgentId;
  /** Role `assistant`. */
  readonly message: Message;
  /** `length`: the policy ran into its token limit, so the message may be cut. */
  readonly finishReason: "stop" | "length";
}
