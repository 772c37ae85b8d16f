import {
  defined,
  type Determinism,
  type Grade,
  type Message,
  MrlmError,
  type Scorer,
  type ScoreRequest,
  textMessage,
} from "@mrlm/kit";
import { gradeConversation } from "./grade-conversation.ts";
import type { RewardModelOptions } from "./options.ts";
import type { ScoreSource } from "./score-source.ts";

/** Scores an answer by a reward model, which reads the conversation or the question, and not the expected answer. */
export class RewardScorer implements Scorer {
  readonly determinism: Determinism;
  readonly #source: ScoreSource;
  readonly #options: RewardModelOptions;

  constructor(source: ScoreSource, options: RewardModelOptions) {
    this.determinism = source.determinism;
    this.#source = source;
    this.#options = options;
  }

  async score(request: ScoreRequest): Promise<Grade> {
    const { answer, signal = new AbortController().signal, queued } = request;
    const graded = await gradeConversation(this.#source, conversationOf(request), this.#options, {
      signal,
      ...defined({ queued }),
    });
    const { reward, scores } = graded;
    return {
      reward,
      verdict: reward.scored ? "scored" : "failed",
      reason: reward.scored ? `The reward model gives ${scores.join(", ")}.` : reward.message,
      extracted: answer,
      detail: { scores: [...scores] },
    };
  }

  close(): Promise<void> {
    return this.#source.close();
  }
}

function conversationOf({ messages, question, answer }: ScoreRequest): readonly Message[] {
  if (messages !== undefined) return messages;
  if (question !== undefined) return [textMessage("user", question), textMessage("assistant", answer)];
  throw new MrlmError("DATA_INVALID", "A reward model needs the question, or the messages, that an answer is to.", {
    hint: "Give `question` or `messages` with the answer.",
  });
}
