import { type Message, messageText, MrlmError, type Reward, score, textMessage, unscored } from "@mrlm/kit";
import type { CompletionOptions } from "@mrlm/model-client";
import type { RewardModelOptions } from "./options.ts";
import type { ScoreSource } from "./score-source.ts";

/** Reward of a conversation, with the score before its scale. */
export interface Graded {
  readonly reward: Reward;
  /** Scores of the turns; none where the model failed. */
  readonly scores: readonly number[];
}

/** Fewest characters to which an answer is cut that is too long for an endpoint. */
const MIN_CHARACTERS = 1_000;

/**
 * Grades a conversation by the score of its turns. The reward is unscored, with the cause, where the model or its server fails: never 0. Rejects with the reason of the
 * signal alone.
 */
export async function gradeConversation(
  source: ScoreSource,
  messages: readonly Message[],
  { steps, scale }: Pick<RewardModelOptions, "steps" | "scale">,
  options: CompletionOptions,
): Promise<Graded> {
  try {
    const scores = await scoresOf(source, messages, options);
    const value = steps === "min" ? Math.min(...scores) : (scores.at(-1) as number);
    return { reward: score(scale === "sigmoid" ? 1 / (1 + Math.exp(-value)) : value), scores };
  } catch (error) {
    options.signal.throwIfAborted();
    if (!MrlmError.isInstance(error)) throw error;
    return { reward: unscored(error.code, `${error.message.replace(/\.?$/, ".")} ${error.hint}`), scores: [] };
  }
}

/** Asks again with the second half of the last message where it is too long: no answer is without a grade because it is long. */
async function scoresOf(
  source: ScoreSource,
  messages: readonly Message[],
  options: CompletionOptions,
): Promise<readonly number[]> {
  try {
    return await source.score(messages, options);
  } catch (error) {
    const text = messageText(messages.at(-1) as Message);
    if (!MrlmError.hasCode(error, "ENDPOINT_CONTEXT_TOO_LONG") || text.length <= MIN_CHARACTERS) throw error;
    const shorter = textMessage("assistant", text.slice(Math.ceil(text.length / 2)));
    return await scoresOf(source, [...messages.slice(0, -1), shorter], options);
  }
}
