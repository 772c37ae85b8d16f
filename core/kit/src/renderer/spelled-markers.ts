import { MrlmError } from "@mrlm/spec";

/** Around the number of a marker. Characters for private use: a normaliser leaves them as they are, and no text means anything by them. */
const [OPEN, CLOSE] = ["\uE000", "\uE001"];

interface AddedToken {
  readonly content: string;
  readonly special?: boolean;
}

/**
 * Distinguishes a tokenizer's markers (its special tokens) that a template writes from those that content spells. A template renders text, in which both look the
 * same, and an encoder would turn a user's `<|im_end|>` into the id that ends a turn. Content is therefore escaped before it is rendered, and text with
 * escapes is encoded under other names of the markers, so that what content spells is ordinary text.
 */
export class SpelledMarkers {
  readonly #names: readonly string[];
  readonly #pattern: RegExp;
  readonly #definition: Readonly<Record<string, unknown>>;

  /** @param config tokenizer_config.json, whose `eos_token` and others are markers whatever tokenizer.json calls them */
  constructor(definition: Readonly<Record<string, unknown>>, config: Readonly<Record<string, unknown>>) {
    const named = new Set(
      ["bos_token", "eos_token", "pad_token", "unk_token", "sep_token", "cls_token", "mask_token"].map((name) =>
        specialToken(config[name]),
      ),
    );
    const added = (definition["added_tokens"] ?? []) as readonly AddedToken[];
    this.#definition = definition;
    this.#names = added
      .filter(({ content, special }) => content !== "" && (special === true || named.has(content)))
      .map(({ content }) => content);
    const longestFirst = this.#names.toSorted((one, other) => other.length - one.length);
    this.#pattern = new RegExp(
      [...longestFirst.map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")), OPEN, CLOSE].join("|"),
      "g",
    );
  }

  /** Content with each marker that it spells replaced by a number that no template and no encoder knows. */
  escape(content: string): string {
    return content.replace(this.#pattern, (found) => `${OPEN}${this.#numberOf(found)}${CLOSE}`);
  }

  /** Whether the text holds anything that was escaped. */
  isIn(text: string): boolean {
    return text.includes(OPEN as string);
  }

  /** Text as it was before {@link escape}. */
  unescape(text: string): string {
    return text.replace(ESCAPED, (_, number: string) => this.#nameOf(Number(number)));
  }

  /** Rendered text with escapes, as the tokenizer of {@link renamed} encodes it: the template's own markers have their other names, content is as it was. */
  forRenamed(text: string): string {
    const pieces = text.split(ESCAPED);
    return pieces
      .map((piece, i) =>
        i % 2 === 1
          ? this.#nameOf(Number(piece))
          : piece.replace(this.#pattern, (found) => this.#otherName(this.#numberOf(found))),
      )
      .join("");
  }

  /** tokenizer.json in which the markers have other names, in the vocabulary too, and the same ids. */
  renamed(): Record<string, unknown> {
    const model = this.#definition["model"] as {
      readonly vocab?: Readonly<Record<string, number>> | readonly (readonly [string, number])[];
    };
    const rename = (name: string): string =>
      this.#names.includes(name) ? this.#otherName(this.#numberOf(name)) : name;
    const { vocab = {} } = model;
    const other = Array.isArray(vocab)
      ? vocab.map(([piece, score]) => [rename(piece as string), score])
      : Object.fromEntries(Object.entries(vocab).map(([token, id]) => [rename(token), id]));
    const added = (this.#definition["added_tokens"] as readonly AddedToken[]).map((token) => ({
      ...token,
      content: rename(token.content),
    }));
    return { ...this.#definition, added_tokens: added, model: { ...model, vocab: other } };
  }

  #otherName(number: number): string {
    return `${OPEN}#${number}${CLOSE}`;
  }

  /** Markers by their place; then the two characters that escapes are made of. */
  #numberOf(found: string): number {
    const place = this.#names.indexOf(found);
    return place >= 0 ? place : this.#names.length + Number(found === CLOSE);
  }

  #nameOf(number: number): string {
    const name = [...this.#names, OPEN, CLOSE][number];
    if (name === undefined) throw new MrlmError("INTERNAL", `Rendered text has the escape ${number}, which is none.`);
    return name;
  }
}

const ESCAPED = new RegExp(`${OPEN}(\\d+)${CLOSE}`, "g");

/** Special tokens are spelled as a string or as `{ content }`. */
export function specialToken(entry: unknown): string {
  if (typeof entry === "string") return entry;
  return typeof entry === "object" && entry !== null ? String((entry as { content?: unknown }).content ?? "") : "";
}
