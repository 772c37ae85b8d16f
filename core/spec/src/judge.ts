import type { AgentId } from "./id.ts";
import type { Message } from "./message.ts";
import type { Reward } from "./reward.ts";
import type { Task } from "./task.ts";

/** Grades a conversation. */
export interface Judge {
  /** A reward for each agent; `unscored` where the judge could not tell. */
  judge(
    request: { readonly messages: readonly Message[]; readonly agents: readonly AgentId[]; readonly task: Task },
    options: { readonly signal: AbortSignal },
  ): Promise<Readonly<Record<AgentId, Reward>>>;
}
