import { ownMember } from "../names/own-member.ts";

/** Advice by the code of the error that episodes failed with: not every fault is the environment's. */
const ADVICE: Readonly<Record<string, string>> = {
  TOKENIZER_INVALID:
    "The model's tokenizer cannot express what the environment shows. Use a tokenizer that has all of its characters (for a random model: model.random.tokenizer), or other options of the environment.",
  SEQUENCE_TOO_LONG:
    "Prompts exceed the model's context. Choose shorter tasks, raise sampling.max_sequence_tokens where it is set, or use a model with more positions (max_position_embeddings).",
};

/**
 * @param code of the first error
 * @param otherwise for every other code
 */
export function failureAdvice(code: string, otherwise: string): string {
  return ownMember(ADVICE, code) ?? otherwise;
}

/** Whether the same run would fail in the same way again: its model, and with it tokenizer and positions, cannot change. */
export function isFaultOfModel(code: string): boolean {
  return Object.hasOwn(ADVICE, code);
}

/** The code in `CODE: message`, as summaries of episodes hold a first error. */
export function codeOf(firstError: string): string {
  return firstError.split(":", 1)[0] ?? "";
}
