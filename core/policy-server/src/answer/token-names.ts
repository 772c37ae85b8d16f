import type { TextTokenizer } from "@mrlm/kit/renderer";

const encoder = new TextEncoder();

/** Texts of single tokens, for lists of log-probabilities. */
export class TokenNames {
  readonly #tokenizer: TextTokenizer;
  readonly #names = new Map<number, string>();

  constructor(tokenizer: TextTokenizer) {
    this.#tokenizer = tokenizer;
  }

  /** Returns the text of a token. A token that is a part of a character has replacement characters. */
  of(token: number): string {
    let name = this.#names.get(token);
    if (name === undefined) {
      name = this.#tokenizer.decode(Int32Array.of(token));
      this.#names.set(token, name);
    }
    return name;
  }

  /** Returns the bytes of the text of a token in UTF-8; null for a part of a character. */
  bytesOf(token: number): number[] | null {
    const name = this.of(token);
    return name.includes("\uFFFD") ? null : [...encoder.encode(name)];
  }
}
