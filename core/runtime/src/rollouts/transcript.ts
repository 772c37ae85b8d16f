import { isDeepStrictEqual } from "node:util";
import {
  type Message,
  MrlmError,
  type Observation,
  type Renderer,
  type Segment,
  type TokenSpan,
  type ToolDefinition,
} from "@mrlm/spec";
import type { Extension, SampleResult } from "@mrlm/spec/host";
import type { PromptCache } from "./prompt-cache.ts";

/** Record of one agent in an episode: its conversation, and the tokens of it exactly as they were rendered and sampled. */
export class Transcript {
  readonly #renderer: Renderer;
  readonly #prompts: PromptCache;
  readonly #callIds: ReadonlySet<string>;
  readonly #segments: SegmentBuilder[] = [];
  #history: readonly Message[] = [];
  #tools: readonly ToolDefinition[] | undefined;
  /** Sizes before the last observation. */
  #before = { segments: 0, length: 0 };

  /** @param callIds ids of all calls of the episode so far, which the caller completes */
  constructor(renderer: Renderer, prompts: PromptCache, callIds: ReadonlySet<string>) {
    this.#renderer = renderer;
    this.#prompts = prompts;
    this.#callIds = callIds;
  }

  /** Adds an observation and returns the whole prompt. */
  observe(observation: Observation): Int32Array {
    const { messages, tools, isFresh } = observation;
    const hasOtherTools = tools !== undefined && !isDeepStrictEqual(tools, this.#tools);
    this.#tools = tools ?? this.#tools;
    const current = this.#segments.at(-1);
    this.#before = { segments: this.#segments.length, length: current?.length ?? 0 };
    if (isFresh === true) this.#history = [];
    if (current === undefined) this.#begin(this.#prompts.render(this.#renderer, messages, this.#tools), null);
    else if (isFresh === true) this.#begin(this.#renderer.render(messages, this.#tools).tokens, null);
    else this.#continue(current, messages, hasOtherTools);
    this.#history = [...this.#history, ...messages];
    return this.#current().tokens;
  }

  /** Adds the tokens sampled after the last observation. */
  choose(sampled: SampleResult): { readonly message: Message; readonly span: TokenSpan } {
    const current = this.#current();
    const start = current.length;
    current.choose(sampled);
    const message = this.#renderer.parse(sampled.tokens, {
      prompt: current.tokens.subarray(0, start),
      tools: this.#tools ?? [],
      takenIds: this.#callIds,
    });
    this.#history = [...this.#history, message];
    return { message, span: { segment: this.#segments.length - 1, start, end: current.length } };
  }

  /** Removes the last observation, which has no answer: with it the sequence would exceed the model's length. */
  withdraw(): void {
    this.#segments.length = this.#before.segments;
    this.#segments.at(-1)?.cut(this.#before.length);
  }

  segments(): Segment[] {
    return this.#segments.map((segment) => segment.build());
  }

  #continue(current: SegmentBuilder, messages: readonly Message[], hasOtherTools: boolean): void {
    // Chat templates render the tools before the conversation, which an extension leaves as it is.
    const extension: Extension = hasOtherTools
      ? { kind: "restart", tokens: this.#renderer.render([...this.#history, ...messages], this.#tools).tokens }
      : this.#renderer.extend(current.tokens, this.#history, messages, this.#tools);
    if (extension.kind === "extend") current.show(this.#checked(extension.tokens));
    // A new prompt that begins with all earlier tokens extends the segment.
    else if (isPrefix(current.tokens, extension.tokens))
      current.show(this.#checked(extension.tokens.subarray(current.length)));
    else this.#begin(extension.tokens, this.#segments.length - 1);
  }

  #begin(tokens: Int32Array, parent: number | null): void {
    const segment = new SegmentBuilder(parent);
    segment.show(this.#checked(tokens));
    this.#segments.push(segment);
  }

  #checked(tokens: Int32Array): Int32Array {
    const at = tokens.findIndex((token) => token < 0 || token >= this.#renderer.vocabSize);
    if (at < 0) return tokens;
    throw new MrlmError(
      "SEQUENCE_INVALID",
      `The renderer made token ${tokens[at]} at position ${at}; the vocabulary has ${this.#renderer.vocabSize}.`,
    );
  }

  #current(): SegmentBuilder {
    const current = this.#segments.at(-1);
    if (current === undefined) throw new MrlmError("INTERNAL", "A policy sampled before its first observation.");
    return current;
  }
}

function isPrefix(prefix: Int32Array, tokens: Int32Array): boolean {
  return prefix.length <= tokens.length && prefix.every((token, i) => token === tokens[i]);
}

/** Builder of a segment: rendered and sampled tokens in order. Tokens in it are never changed. */
class SegmentBuilder {
  readonly parent: number | null;
  #length = 0;
  #tokens = new Int32Array(64);
  #logprobs = new Float32Array(64);
  #mask = new Uint8Array(64);
  #versions = new Int32Array(64);

  constructor(parent: number | null) {
    this.parent = parent;
  }

  get length(): number {
    return this.#length;
  }

  /** View of the tokens. It is valid until the segment grows. */
  get tokens(): Int32Array {
    return this.#tokens.subarray(0, this.#length);
  }

  /** Adds tokens of the prompt. */
  show(tokens: Int32Array): void {
    this.#reserve(tokens.length);
    this.#tokens.set(tokens, this.#length);
    this.#versions.fill(-1, this.#length, this.#length + tokens.length);
    this.#length += tokens.length;
  }

  /** Adds sampled tokens with their log-probabilities and weight versions. */
  choose({ tokens, logprobs, versions }: SampleResult): void {
    this.#reserve(tokens.length);
    this.#tokens.set(tokens, this.#length);
    this.#logprobs.set(logprobs, this.#length);
    this.#mask.fill(1, this.#length, this.#length + tokens.length);
    this.#versions.set(versions, this.#length);
    this.#length += tokens.length;
  }

  /** Removes the tokens after the first `length`. */
  cut(length: number): void {
    this.#length = length;
  }

  build(): Segment {
    const end = this.#length;
    return {
      tokens: this.#tokens.slice(0, end),
      logprobs: this.#logprobs.slice(0, end),
      mask: this.#mask.slice(0, end),
      versions: this.#versions.slice(0, end),
      parent: this.parent,
    };
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#tokens.length) return;
    const capacity = Math.max(needed, 2 * this.#tokens.length);
    const grow = <A extends Int32Array | Float32Array | Uint8Array>(from: A, to: A): A => (to.set(from), to);
    this.#tokens = grow(this.#tokens, new Int32Array(capacity));
    this.#logprobs = grow(this.#logprobs, new Float32Array(capacity));
    this.#mask = grow(this.#mask, new Uint8Array(capacity));
    this.#versions = grow(this.#versions, new Int32Array(capacity));
  }
}
