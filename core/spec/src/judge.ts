import type { AgentId } from "./id.ts";
import type { Message } from "./message.ts";
import type { Reward } from "./reward.ts";
import type { Task } from "./task.ts";

/** Grades a conversation, where a `Scorer` grades an answer against an expected one. */
export interface Judge {
  /** Returns a reward for each of `agents`; `unscored` if the judge cannot decide. */
  judge(
    request: { readonly messages: readonly Message[]; readonly agents: readonly AgentId[]; readonly task: Task },
    options: { readonly signal: AbortSignal },
  ): Promise<Readonly<Record<AgentId, Reward>>>;
}
