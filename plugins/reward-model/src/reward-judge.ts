import {
  type AgentId,
  type Judge,
  type JudgeRequest,
  type Judgement,
  type Determinism,
  type Message,
  messageText,
  textMessage,
} from "@mrlm/kit";
import type { CompletionOptions } from "@mrlm/model-client";
import { gradeConversation } from "./grade-conversation.ts";
import type { RewardModelOptions } from "./options.ts";
import type { ScoreSource } from "./score-source.ts";

/** Judges each agent by the score of its turns. The messages of the others are those of the user. */
export class RewardJudge implements Judge {
  readonly determinism: Determinism;
  readonly #source: ScoreSource;
  readonly #options: RewardModelOptions;

  constructor(source: ScoreSource, options: RewardModelOptions) {
    this.determinism = source.determinism;
    this.#source = source;
    this.#options = options;
  }

  async judge(request: JudgeRequest, options: CompletionOptions): Promise<Judgement> {
    const graded = await Promise.all(
      request.agents.map(async (agent) => {
        const messages = conversationOf(request, agent);
        return [agent, await gradeConversation(this.#source, messages, this.#options, options)] as const;
      }),
    );
    const rewards = Object.fromEntries(graded.map(([agent, { reward }]) => [agent, reward]));
    const values = graded.flatMap(([agent, { reward }]) => (reward.scored ? [[agent, reward.value] as const] : []));
    const best = Math.max(...values.map(([, value]) => value));
    const [winner, other] = values.filter(([, value]) => value === best);
    const isDecided = values.length === graded.length && winner !== undefined;
    return {
      rewards,
      verdict: !isDecided ? "undecided" : other === undefined ? winner[0] : "tie",
      reason: graded
        .map(([agent, { reward }]) => `${agent}: ${reward.scored ? reward.value : reward.message}`)
        .join("; "),
      detail: { scores: Object.fromEntries(graded.map(([agent, { scores }]) => [agent, [...scores]])) },
    };
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}

/** Returns the conversation as an agent had it, up to its last turn. An agent without a turn has an empty message. */
function conversationOf({ question, turns }: JudgeRequest, agent: AgentId): Message[] {
  const last = turns.findLastIndex((turn) => turn.agent === agent);
  const own = last < 0 ? [...turns, { agent, message: textMessage("assistant", "") }] : turns.slice(0, last + 1);
  const messages: Message[] = [];
  let received = question === undefined ? [] : [question];
  for (const { agent: speaker, message } of own) {
    if (speaker !== agent) {
      received.push(messageText(message));
      continue;
    }
    // Chat templates alternate: what was received since the last turn is one message.
    messages.push(textMessage("user", received.join("\n\n")), { ...message, role: "assistant" });
    received = [];
  }
  return messages;
}
