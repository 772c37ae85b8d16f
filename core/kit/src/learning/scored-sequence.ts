import { type EngineSequence, MrlmError } from "@mrlm/spec";

/**
 * Returns the sequence with which an engine computes the scores of a reward model at some tokens: `value` has one number for each of `ends`, that of the state
 * after this token. The engine's value at position t is that of the state before token t, so the mask stands one token later, and one closing token follows
 * the last of `ends`. A causal model reads no later token: the id of the closing token changes no score.
 *
 * @param ends ascending positions in `tokens`; what follows the last is left out
 */
function scoredSequence(tokens: Int32Array, ends: readonly number[]): EngineSequence {
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

/**
 * Returns the sequences that score every turn of the policy in a conversation, each at its last token, in their order.
 *
 * @param longest positions of the model. Of a longer sequence the beginning is left out, with the turns in it: the last turn always has a score
 */
export function scoredTurns(
  sequences: readonly EngineSequence[],
  longest = Number.POSITIVE_INFINITY,
): readonly EngineSequence[] {
  return sequences.flatMap(({ tokens, mask }) => {
    const ends = Array.from(mask.keys()).filter((t) => mask[t] === 1 && mask[t + 1] !== 1);
    if (ends.length === 0) return [];
    const scored = scoredSequence(tokens, ends);
    const left = Math.max(0, scored.tokens.length - longest);
    if (left === 0) return [scored];
    const kept = scored.mask.slice(left);
    // The first token follows no state.
    kept[0] = 0;
    return [{ tokens: scored.tokens.slice(left), mask: kept }];
  });
}
