import { type Delta, findStop, partialStop } from "@mrlm/kit/gateway";
import { TokenText, type TextTokenizer } from "@mrlm/kit/renderer";
import type { SampledChunk } from "@mrlm/spec/host";
import type { TextSink } from "./text-sink.ts";

/** Part of an answer with its tokens. */
export interface ChoiceUpdate {
  readonly deltas: readonly Delta[];
  readonly tokens: readonly number[];
  readonly logprobs: readonly number[];
}

interface HeldToken {
  readonly token: number;
  readonly logprob: number;
  /** Offset of its text in the text held back. Tokens that are parts of one character have the same. */
  start: number;
}

/**
 * One answer, from its sampled tokens to text. Without stop strings tokens pass as they come. With them, tokens whose text may be part of a stop string are held
 * back. At a stop string the text ends before it, and the tokens end with the last one that has a part of the text.
 */
export class Choice {
  readonly #sink: TextSink;
  readonly #stops: readonly string[];
  readonly #stopTokens: ReadonlySet<number>;
  readonly #decoder: TokenText;
  #held: HeldToken[] = [];
  #text = "";
  #stop: string | undefined;

  constructor(options: {
    readonly sink: TextSink;
    readonly tokenizer: TextTokenizer;
    readonly stops: readonly string[];
    readonly stopTokens: ReadonlySet<number>;
  }) {
    this.#sink = options.sink;
    this.#stops = options.stops;
    this.#stopTokens = options.stopTokens;
    this.#decoder = new TokenText(options.tokenizer, new Map());
  }

  /** Stop string that has ended the answer. Later tokens are not part of it. */
  get stop(): string | undefined {
    return this.#stop;
  }

  push({ tokens, logprobs }: Pick<SampledChunk, "tokens" | "logprobs">): ChoiceUpdate {
    if (this.#stops.length === 0) return { deltas: this.#write(tokens), tokens: [...tokens], logprobs: [...logprobs] };
    const updates: ChoiceUpdate[] = [];
    for (let i = 0; i < tokens.length && this.#stop === undefined; i++) {
      this.#hold(tokens[i] as number, logprobs[i] as number);
      updates.push(this.#release());
    }
    return joined(updates);
  }

  /** Ends the answer and returns its last part. */
  end(): ChoiceUpdate {
    const updates: ChoiceUpdate[] = [];
    if (this.#stop === undefined && this.#stops.length > 0) {
      this.#text += this.#decoder.end().map(shown).join("");
      updates.push(this.#release(true));
    }
    return joined([...updates, { deltas: this.#sink.end(), tokens: [], logprobs: [] }]);
  }

  /** Gives tokens to the sink. A stop token has no text. */
  #write(tokens: Int32Array): Delta[] {
    const last = tokens.at(-1);
    const isStop = last !== undefined && this.#stopTokens.has(last);
    return this.#sink.push(isStop ? tokens.subarray(0, -1) : tokens);
  }

  #hold(token: number, logprob: number): void {
    if (this.#stopTokens.has(token)) {
      this.#text += this.#decoder.end().map(shown).join("");
      this.#held.push({ token, logprob, start: this.#text.length });
      return;
    }
    const pieces = this.#decoder.push(Int32Array.of(token)).map(shown);
    const own = this.#decoder.held === 0 ? (pieces.pop() ?? "") : "";
    this.#text += pieces.join("");
    this.#held.push({ token, logprob, start: this.#text.length });
    this.#text += own;
  }

  #release(isLast = false): ChoiceUpdate {
    const match = findStop(this.#text, this.#stops);
    if (match !== undefined) {
      this.#stop = this.#text.slice(match.start, match.end);
      return this.#cut(match.start);
    }
    const safe = this.#text.length - (isLast ? 0 : partialStop(this.#text, this.#stops));
    const pending = isLast ? 0 : this.#decoder.held;
    let count = 0;
    while (count < this.#held.length - pending && this.#endOf(count) <= safe) count++;
    return this.#take(count);
  }

  #cut(start: number): ChoiceUpdate {
    let whole = 0;
    while (whole < this.#held.length && this.#endOf(whole) <= start && this.#startOf(whole) < start) whole++;
    const kept = this.#held.filter((held) => held.start < start);
    const offset = whole === 0 ? 0 : this.#endOf(whole - 1);
    const update = this.#take(whole);
    const divided = kept.slice(whole);
    if (divided.length === 0) return update;
    return {
      deltas: [...update.deltas, ...this.#sink.pushText(this.#text.slice(0, start - offset))],
      tokens: [...update.tokens, ...divided.map(({ token }) => token)],
      logprobs: [...update.logprobs, ...divided.map(({ logprob }) => logprob)],
    };
  }

  /** Takes the first tokens out of those held back. */
  #take(count: number): ChoiceUpdate {
    if (count === 0) return { deltas: [], tokens: [], logprobs: [] };
    const end = this.#endOf(count - 1);
    const taken = this.#held.slice(0, count);
    this.#held = this.#held.slice(count);
    this.#text = this.#text.slice(end);
    for (const held of this.#held) held.start -= end;
    const tokens = taken.map(({ token }) => token);
    return {
      deltas: this.#write(Int32Array.from(tokens)),
      tokens,
      logprobs: taken.map(({ logprob }) => logprob),
    };
  }

  #startOf(index: number): number {
    return (this.#held[index] as HeldToken).start;
  }

  #endOf(index: number): number {
    return this.#held.slice(index + 1).find(({ start }) => start > this.#startOf(index))?.start ?? this.#text.length;
  }
}

function shown(piece: ReturnType<TokenText["push"]>[number]): string {
  return "text" in piece ? piece.text : piece.special;
}

function joined(updates: readonly ChoiceUpdate[]): ChoiceUpdate {
  return {
    deltas: updates.flatMap(({ deltas }) => deltas),
    tokens: updates.flatMap(({ tokens }) => tokens),
    logprobs: updates.flatMap(({ logprobs }) => logprobs),
  };
}
