import type { Segment } from "@mrlm/spec";
import type { SampleResult } from "@mrlm/spec/host";

/** Builder of a segment: rendered and sampled tokens in order. Tokens in it are never changed. */
export class SegmentBuilder {
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
