import type { Renderer, SupervisedSequence } from "@mrlm/spec";
import { fromChatMessage } from "./chat-message.ts";
import { fromChatTools } from "./chat-tools.ts";
import type { RecordedRow } from "./recorded-row.ts";

/**
 * Returns the sequences of a recorded episode for supervised learning. A renderer with the same fingerprint uses the sampled tokens. For any other renderer
 * these ids stand for other text, so that it renders the messages.
 */
export function recordedSequences(
  { renderer: fingerprint, segments, messages, tools, fresh_at }: RecordedRow,
  renderer: Renderer,
): SupervisedSequence[] {
  if (fingerprint !== renderer.fingerprint) {
    const starts = [0, ...(fresh_at ?? [])];
    return starts
      .map((start, i) => messages.slice(start, starts[i + 1]))
      .filter((conversation) => conversation.some(({ role }) => role === "assistant"))
      .flatMap((conversation) => renderer.supervise(conversation.map(fromChatMessage), fromChatTools(tools ?? [])));
  }
  return segments.flatMap(({ tokens, mask }) =>
    mask.includes(1) ? [{ tokens: Int32Array.from(tokens), mask: Uint8Array.from(mask) }] : [],
  );
}

/** Returns true if another player than a policy played a row: a frozen model, a script. Nothing is learnt from it or measured by it. */
export function isOfOtherPlayer({ player }: Pick<RecordedRow, "player">): boolean {
  return (player?.kind ?? "policy") !== "policy";
}

/** Returns the reward that is learnt from a row, as `learntReward` does for a part of an episode; `null` if it is unscored. */
export function learntRowReward({ shared, reward }: Pick<RecordedRow, "shared" | "reward">): number | null {
  return shared ? shared.reward : reward;
}

/** Returns true if a row can be trained on: a policy played it, its episode did not fail, is scored and has at least the minimal reward, a shared one where roles share rewards. */
export function isLearnable(row: RecordedRow, minReward = Number.NEGATIVE_INFINITY): boolean {
  const reward = learntRowReward(row);
  return !isOfOtherPlayer(row) && !row.error && reward !== null && reward >= minReward;
}
