import { type EngineSequence, MrlmError } from "@mrlm/spec";

/**
 * Returns the sequence with which an engine computes the scores of a reward model at some tokens: `value` has one number for each of `ends`, that of the state
 * after this token. The engine's value at position t is that of the state before token t, so the mask stands one token later, and one closing token follows
 * the last of `ends`. A causal model reads no later token: the id of the closing token changes no score.
 *
 * @param ends ascending positions in `tokens`; what follows the last is left out
 */
export function scoredSequence(tokens: Int32Array, ends: readonly number[]): EngineSequence {
  const last = ends.at(-1);
  if (last === undefined) throw new MrlmError("INTERNAL", "A sequence without an end has no score.");
  const mask = new Uint8Array(last + 2);
  for (const end of ends) mask[end + 1] = 1;
  return { tokens: Int32Array.of(...tokens.subarray(0, last + 1), tokens[last] as number), mask };
}

/**
 * Returns the sequence whose value is the score of an answer: that of the state after its last token, which is the stop token unless the answer was cut. Text
 * of the template behind the answer is left out. Of several sequences, the last has the end of the answer.
 */
export function scoredAnswer(sequences: readonly EngineSequence[]): EngineSequence {
  const answer = sequences.at(-1);
  const end = answer?.mask.lastIndexOf(1) ?? -1;
  return scoredSequence(answer?.tokens ?? new Int32Array(), end < 0 ? [] : [end]);
}
