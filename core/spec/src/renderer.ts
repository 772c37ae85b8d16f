import type { Message } from "./message.ts";
import type { ToolDefinition } from "./tool.ts";

/** A prompt as a policy is given it. */
export interface Rendered {
  /** Ids of the vocabulary, one after the other. */
  readonly tokens: Int32Array;
}

/** A conversation to learn from, or the part of one up to where its template rewrites history. */
export interface SupervisedSequence {
  readonly tokens: Int32Array;
  /** 1 on what the policy is to say, stop tokens included. */
  readonly mask: Uint8Array;
}

/** How the tokens of the next turn follow from those of the turns before. */
export type Extension =
  /** The earlier tokens stay as they are and these follow. */
  | { readonly kind: "extend"; readonly tokens: Int32Array }
  /** The template rewrites what came before (it drops old thinking, say): a new segment starts with these. */
  | { readonly kind: "restart"; readonly tokens: Int32Array };

/**
 * One model family's chat template, tool-call format and stop tokens. Sampled tokens are never re-tokenised: `extend` only
 * ever tokenises text that the policy did not write.
 */
export interface Renderer {
  /** Renderers with the same one turn the same messages into the same tokens. */
  readonly fingerprint: string;
  readonly stopTokenIds: readonly number[];
  readonly vocabSize: number;
  /** A conversation up to the point where the policy speaks. */
  render(messages: readonly Message[], tools?: readonly ToolDefinition[]): Rendered;
  /**
   * The next turn's tokens.
   * @param tokens every token of the segment so far, the sampled ones included
   * @param history every message so far, the policy's parsed ones included
   * @param messages what is new
   */
  extend(
    tokens: Int32Array,
    history: readonly Message[],
    messages: readonly Message[],
    tools?: readonly ToolDefinition[],
  ): Extension;
  /** What the policy said. A stop token at the end is not part of the message. */
  parse(tokens: Int32Array): Message;
  /** A whole conversation for supervised learning: one sequence, or more where the template rewrites history. */
  supervise(messages: readonly Message[], tools?: readonly ToolDefinition[]): readonly SupervisedSequence[];
  /** Text of tokens, special ones included; for people to read. */
  decode(tokens: Int32Array): string;
}
