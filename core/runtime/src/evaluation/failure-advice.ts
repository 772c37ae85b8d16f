import { isErrorCode } from "@mrlm/spec";
import { ERROR_CODES } from "@mrlm/spec/host";
import { ownMember } from "../names/own-member.ts";

/** Advice by the error code of failed episodes, for faults that are not the environment's. */
const ADVICE: Readonly<Record<string, string>> = {
  TOKENIZER_INVALID:
    "The model's tokenizer cannot express what the environment shows. Use a tokenizer that has all of its characters (for a random model: model.random.tokenizer), or other options of the environment.",
  SEQUENCE_TOO_LONG:
    "Prompts exceed the model's context. Choose shorter tasks, raise sampling.max_sequence_tokens where it is set, or use a model with more positions (max_position_embeddings).",
};

/**
 * Returns advice for failed episodes.
 * @param code error code of the first one
 * @param otherwise advice for every other code
 */
export function failureAdvice(code: string, otherwise: string): string {
  return (
    ownMember(ADVICE, code) ??
    (isErrorCode(code) && /^(ENDPOINT|PLAYER)_/.test(code) ? ERROR_CODES[code].hint : otherwise)
  );
}

/**
 * Returns advice for unscored episodes. A code that is none of mrlm's was chosen by the environment or its scorer, mostly about the answer.
 * @param code error code of the first one
 * @param otherwise advice about a failure of what computes rewards
 */
export function unscoredAdvice(code: string, otherwise: string): string {
  if (code === "" || isErrorCode(code)) return otherwise;
  return `The environment or its scorer gives ${code} itself. If the policy's answer is the cause, give it the reward of a wrong one: else the policy learns whether it is graded. \`mrlm show RUN --failed\` prints the episodes.`;
}

/** Whether the same run would fail in the same way again: its model, and with it tokenizer and positions, cannot change. */
export function isFaultOfModel(code: string): boolean {
  return Object.hasOwn(ADVICE, code);
}

/** Returns the code of `CODE: message`, the form of a first error in summaries of episodes. */
export function codeOf(firstError: string): string {
  return firstError.split(":", 1)[0] ?? "";
}
