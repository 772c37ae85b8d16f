import type { Message } from "./message.ts";
import type { ToolDefinition } from "./tool.ts";

/** Prompt of a policy in tokens. */
export interface Rendered {
  /** Token ids, shape [tokens]. */
  readonly tokens: Int32Array;
}

/** Conversation to learn from, or the part of one before its chat template rewrites the history. Both arrays have the shape [tokens]. */
export interface SupervisedSequence {
  readonly tokens: Int32Array;
  /** 1 for each token of the policy, including stop tokens; else 0. */
  readonly mask: Uint8Array;
}

/** Tokens of the next prompt, relative to the tokens of the segment so far. */
export type Extension =
  /** The next prompt is the segment so far, followed by these tokens. */
  | { readonly kind: "extend"; readonly tokens: Int32Array }
  /** The template changes earlier messages (for example it drops old reasoning). These tokens are the whole prompt of a new segment. */
  | { readonly kind: "restart"; readonly tokens: Int32Array };

/** Circumstances of a completion, which its tokens do not state. */
export interface ParseContext {
  /** Tokens before the completion. They show whether the template has opened the reasoning. */
  readonly prompt?: Int32Array;
  /**
   * Tools of the prompt; omitted if not known. Their schemas give the types of arguments in formats without quotation marks. Without tools (`[]`), calls that
   * cannot be read stay text.
   */
  readonly tools?: readonly ToolDefinition[];
  /** Ids of the earlier calls of the episode. New calls get others. */
  readonly takenIds?: ReadonlySet<string>;
}

/**
 * Chat template, tool-call format and stop tokens of one model. Sampled tokens are never tokenised again: `extend` tokenises only text that the policy
 * did not write.
 */
export interface Renderer {
  /** Renderers with equal fingerprints return the same tokens for the same messages. */
  readonly fingerprint: string;
  readonly stopTokenIds: readonly number[];
  readonly vocabSize: number;
  /** Returns the prompt of a conversation, up to the position at which the policy writes its message. */
  render(messages: readonly Message[], tools?: readonly ToolDefinition[]): Rendered;
  /**
   * Returns the tokens of the next turn.
   * @param tokens all tokens of the segment so far, including the sampled ones
   * @param history all messages so far, including the parsed ones of the policy
   * @param messages new messages
   */
  extend(
    tokens: Int32Array,
    history: readonly Message[],
    messages: readonly Message[],
    tools?: readonly ToolDefinition[],
  ): Extension;
  /**
   * Returns the message of sampled tokens, with its calls of tools. A stop token at their end is not part of the message. The result depends on nothing but the
   * arguments, so that a repeated episode has the same ids of calls.
   */
  parse(tokens: Int32Array, context?: ParseContext): Message;
  /** Returns a whole conversation for supervised learning: one sequence, or several if the template rewrites the history. */
  supervise(messages: readonly Message[], tools?: readonly ToolDefinition[]): readonly SupervisedSequence[];
  /** Returns the text of tokens, including special tokens, for display. */
  decode(tokens: Int32Array): string;
}
