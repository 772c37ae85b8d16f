import type { TargetSequence } from "./target-sequence.ts";

/** Indexable conversations; an index is always the same one. */
export interface ConversationSource {
  readonly size: number;
  /** Share of the batches, relative to the other sources. */
  readonly weight: number;
  get(indices: readonly number[]): Promise<readonly TargetSequence[]>;
  /** What someone should know of them, in words. */
  readonly notices: readonly string[];
}
