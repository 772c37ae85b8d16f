import type { Message } from "./message.ts";

/** Model with a value head whose values are scores of answers. */
export interface RewardModel {
  /**
   * Returns the scores of the assistant messages of a conversation, in their order. The last one is never missing; earlier ones are where the conversation is
   * longer than the positions of the model. Rejects where there is no assistant message, and with the error of the engine.
   */
  score(messages: readonly Message[], options?: { readonly signal?: AbortSignal }): Promise<readonly number[]>;
}
