import { MrlmError } from "@mrlm/spec";
import { markerPattern } from "./marker-pattern.ts";

/** Characters around the number of a marker. They are for private use: normalisers keep them, and ordinary text does not contain them. */
const [OPEN, CLOSE] = ["\uE000", "\uE001"];

interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special?: boolean;
}

/**
 * Distinguishes markers (special tokens of a tokenizer) of a template from equal strings in content. A template renders text, in which both are the same, and
 * an encoder would turn `<|im_end|>` of a user into the id that ends a turn. Content is therefore escaped before it is rendered, and text with
 * escapes is encoded under other names of the markers, so that content becomes ordinary text.
 */
export class SpelledMarkers {
  /** The markers by their ids. */
  readonly tokens: ReadonlyMap<number, string>;
  readonly #names: readonly string[];
  readonly #pattern: RegExp;
  /** Beginnings of the markers, without their last characters. */
  readonly #beginnings: ReadonlySet<string>;
  readonly #longest: number;
  readonly #definition: Readonly<Record<string, unknown>>;

  /** @param config tokenizer_config.json, whose `eos_token` and similar entries are markers even if tokenizer.json does not list them as special */
  constructor(definition: Readonly<Record<string, unknown>>, config: Readonly<Record<string, unknown>>) {
    const named = new Set(
      ["bos_token", "eos_token", "pad_token", "unk_token", "sep_token", "cls_token", "mask_token"].map((name) =>
        specialToken(config[name]),
      ),
    );
    const added = (definition["added_tokens"] ?? []) as readonly AddedToken[];
    this.#definition = definition;
    const special = added.filter(
      (token) => token.content !== "" && (token.special === true || named.has(token.content)),
    );
    this.#names = special.map(({ content }) => content);
    this.tokens = new Map(special.map(({ id, content }) => [id, content]));
    this.#pattern = markerPattern([...this.#names, OPEN as string, CLOSE as string]);
    this.#beginnings = new Set(
      this.#names.flatMap((name) => Array.from({ length: name.length - 1 }, (_, i) => name.slice(0, i + 1))),
    );
    this.#longest = Math.max(0, ...this.#names.map(({ length }) => length - 1));
  }

  /**
   * Replaces each marker in content by a number in private-use characters, which templates and encoders do not interpret. The beginning of a marker at the end
   * of content is divided, so that it makes no marker with what is rendered behind it: another part or message.
   * @param kept markers that stay
   */
  escape(content: string, kept?: ReadonlySet<string>): string {
    let end = 0;
    const escaped = content.replace(this.#pattern, (found, offset: number) => {
      end = offset + found.length;
      return kept?.has(found) === true ? found : `${OPEN}${this.#numberOf(found)}${CLOSE}`;
    });
    const tail = content.slice(end);
    return escaped.slice(0, escaped.length - tail.length) + this.#divided(tail);
  }

  /** Writes an empty escape behind the first character of each beginning of a marker with which a text ends, but for white space, which templates remove. */
  #divided(text: string): string {
    const written = text.trimEnd();
    let divided = "";
    let from = 0;
    for (let at = Math.max(0, written.length - this.#longest); at < written.length; at++)
      if (this.#beginnings.has(written.slice(at))) {
        const next = at + ((text.codePointAt(at) as number) > 0xffff ? 2 : 1);
        divided += `${text.slice(from, next)}${OPEN}${CLOSE}`;
        from = next;
      }
    return divided + text.slice(from);
  }

  /** Returns true if text contains escapes. */
  isIn(text: string): boolean {
    return text.includes(OPEN as string);
  }

  /** Reverts {@link escape}. */
  unescape(text: string): string {
    return text.replace(ESCAPED, (_, number: string) => this.#nameOf(number));
  }

  /** Converts rendered text with escapes for the tokenizer of {@link renamed}: markers of the template get their other names, content is restored. */
  forRenamed(text: string): string {
    const pieces = text.split(ESCAPED);
    return pieces
      .map((piece, i) =>
        i % 2 === 1
          ? this.#nameOf(piece)
          : piece.replace(this.#pattern, (found) => this.#otherName(this.#numberOf(found))),
      )
      .join("");
  }

  /** Returns a tokenizer.json in which markers have other names and the same ids, also in the vocabulary. */
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

  /** Returns the number of a marker: its index, then two numbers for the two characters of escapes. */
  #numberOf(found: string): number {
    const place = this.#names.indexOf(found);
    return place >= 0 ? place : this.#names.length + Number(found === CLOSE);
  }

  #nameOf(number: string): string {
    // The division of a beginning of a marker.
    if (number === "") return "";
    const name = [...this.#names, OPEN, CLOSE][Number(number)];
    if (name === undefined) throw new MrlmError("INTERNAL", `Rendered text has the escape ${number}, which is none.`);
    return name;
  }
}

const ESCAPED = new RegExp(`${OPEN}(\\d*)${CLOSE}`, "g");

/** Returns the text of a special token, which is a string or `{ content }`. */
export function specialToken(entry: unknown): string {
  if (typeof entry === "string") return entry;
  return typeof entry === "object" && entry !== null ? String((entry as { content?: unknown }).content ?? "") : "";
}
