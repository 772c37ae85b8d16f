import type { Renderer, SupervisedSequence } from "@mrlm/spec";
import { fromChatMessage } from "./chat-message.ts";
import type { RecordedRow } from "./recorded-row.ts";

/**
 * What one recorded episode teaches by imitation. A policy with the same tokenizer and template gets the very tokens that were sampled; another one,
 * for which these ids mean other text, gets the messages in its own tokens.
 */
export function recordedSequences(
  { renderer: fingerprint, segments, messages }: RecordedRow,
  renderer: Renderer,
): SupervisedSequence[] {
  if (fingerprint !== renderer.fingerprint)
    return messages.some(({ role }) => role === "assistant")
      ? [...renderer.supervise(messages.map(fromChatMessage))]
      : [];
  return segments.flatMap(({ tokens, mask }) =>
    mask.includes(1) ? [{ tokens: Int32Array.from(tokens), mask: Uint8Array.from(mask) }] : [],
  );
}

/** Whether a row can be learnt from: its episode did not fail, was scored, and earned enough. */
export function isLearnable({ error, reward }: RecordedRow, minReward = Number.NEGATIVE_INFINITY): boolean {
  return !error && reward !== null && reward >= minReward;
}
