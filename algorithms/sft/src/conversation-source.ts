import type { TargetSequence } from "./target-sequence.ts";

/** Conversations by index. An index always returns the same conversation. */
export interface ConversationSource {
  readonly size: number;
  /** Share of the batches, relative to the other sources. */
  readonly weight: number;
  get(indices: readonly number[]): Promise<readonly TargetSequence[]>;
  /** Messages to the user about this source. */
  readonly notices: readonly string[];
}
