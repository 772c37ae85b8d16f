import type { TextTokenizer } from "./tokenizer.ts";

/** Text of tokens, or a special token. */
export type TokenPiece = { readonly text: string } | { readonly special: string };

/** Greatest number of tokens that are held back because they may be parts of one character: more are bytes of no character. */
const MAX_PARTIAL = 32;

/**
 * Decodes tokens piece by piece. The text of all pieces together does not depend on how the tokens are divided: tokens that are parts of characters are
 * decoded together, up to the last one of a character, and any other token after its predecessor, because some tokenizers remove the space at the start of a text.
 */
export class TokenText {
  readonly #tokenizer: Pick<TextTokenizer, "decode" | "specials">;
  readonly #partial: Map<number, boolean>;
  #run: number[] = [];
  #previous: number | undefined;

  /** @param partial cache of whether a token is a part of a character, by its id */
  constructor(tokenizer: Pick<TextTokenizer, "decode" | "specials">, partial: Map<number, boolean>) {
    this.#tokenizer = tokenizer;
    this.#partial = partial;
  }

  /** Number of tokens at the end that have no text yet. */
  get held(): number {
    return this.#run.length;
  }

  /** Adds tokens and returns the pieces that they complete. */
  push(tokens: Int32Array): TokenPiece[] {
    const pieces: TokenPiece[] = [];
    const take = (): void => {
      const text = this.#take();
      if (text !== "") pieces.push({ text });
    };
    let isPartial = this.#run.length > 0;
    for (const token of tokens) {
      const special = this.#tokenizer.specials.get(token);
      const isPart = special === undefined && this.#isPartial(token);
      if (special !== undefined || isPart !== isPartial || (isPart && this.#run.length >= MAX_PARTIAL)) take();
      if (special === undefined) this.#run.push(token);
      else {
        pieces.push({ special });
        this.#previous = token;
      }
      isPartial = isPart;
      if (isPart && !this.#decode(this.#run).endsWith("\uFFFD")) take();
    }
    if (!isPartial) take();
    return pieces;
  }

  /** Returns the text of the tokens held back. */
  end(): TokenPiece[] {
    const text = this.#take();
    return text === "" ? [] : [{ text }];
  }

  #take(): string {
    if (this.#run.length === 0) return "";
    const context = this.#previous === undefined ? [] : [this.#previous];
    const before = this.#decode(context);
    const text = this.#decode([...context, ...this.#run]).slice(before.length);
    const last = this.#run.at(-1) as number;
    // A part of a character is no context: with its successor it decodes to another text.
    if (!this.#isPartial(last)) this.#previous = last;
    this.#run = [];
    return text;
  }

  #decode(tokens: readonly number[]): string {
    return tokens.length === 0 ? "" : this.#tokenizer.decode(Int32Array.from(tokens));
  }

  #isPartial(token: number): boolean {
    let isPartial = this.#partial.get(token);
    if (isPartial === undefined) {
      isPartial = this.#tokenizer.decode(Int32Array.of(token)).includes("\uFFFD");
      this.#partial.set(token, isPartial);
    }
    return isPartial;
  }
}
