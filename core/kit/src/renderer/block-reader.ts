import { markerPattern } from "./marker-pattern.ts";

/** Fault of a malformed call: a message and the offset of the character at which it was found. */
export class CallFault extends Error {
  override readonly name = "CallFault";
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const SPACE = /[ \t\r\n]*/y;

/**
 * Cursor over the text of one block of calls, from its opening marker to its closing marker. A marker that the tokenizer has as a special token is found
 * only where that token was sampled: the same characters in a string are text.
 */
export class BlockReader {
  readonly text: string;
  at = 0;
  /** Characters examined so far. */
  examined = 0;
  readonly #tokens: ReadonlySet<number>;
  /** The same offsets, ascending, and the number of those that the cursor has passed. */
  readonly #ordered: readonly number[];
  #passed = 0;
  readonly #specials: ReadonlySet<string>;

  /**
   * @param tokens offsets of the special tokens in the text, ascending
   * @param specials special tokens of the tokenizer
   */
  constructor(text: string, tokens: ReadonlySet<number>, specials: ReadonlySet<string>) {
    this.text = text;
    this.#tokens = tokens;
    this.#ordered = [...tokens];
    this.#specials = specials;
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** Throws a {@link CallFault}. */
  fail(message: string, at: number = this.at): never {
    throw new CallFault(message, at);
  }

  /** Throws a {@link CallFault} for text that the format does not allow here. */
  expected(what: string): never {
    return this.fail(`Expected ${what}, found ${this.describeNext()}.`);
  }

  /** Returns the next character or special token for a message. */
  describeNext(): string {
    if (this.isAtEnd) return "the end of the call";
    if (!this.#tokens.has(this.at)) return quote(String.fromCodePoint(this.text.codePointAt(this.at) as number));
    const marker = [...this.#specials].find((special) => this.text.startsWith(special, this.at));
    return `the token ${quote(marker ?? "")}`;
  }

  skipSpace(): void {
    SPACE.lastIndex = this.at;
    SPACE.test(this.text);
    this.#moveTo(SPACE.lastIndex);
  }

  /** Returns true if the marker is next. */
  isNext(marker: string): boolean {
    this.examined += marker.length;
    return this.text.startsWith(marker, this.at) && this.#isMarker(marker, this.at);
  }

  /** Skips the marker if it is next, and returns whether it was. */
  skip(marker: string): boolean {
    const isNext = this.isNext(marker);
    if (isNext) this.at += marker.length;
    return isNext;
  }

  /** Skips the marker. Fails if it is not next. */
  expect(marker: string, where: string): void {
    if (!this.skip(marker)) this.expected(`${quote(marker)} ${where}`);
  }

  /** Returns the text before the next one of the markers, which stays next. `undefined` if none follows. */
  takeBefore(...markers: readonly string[]): string | undefined {
    const begin = this.at;
    // One search for all markers: a search for each would scan the whole block for a marker that does not occur.
    const pattern = anyOf(markers);
    pattern.lastIndex = begin;
    let found = pattern.exec(this.text);
    while (found !== null && !this.#isMarker(found[0], found.index)) found = pattern.exec(this.text);
    this.examined += (found?.index ?? this.text.length) - begin + 1;
    if (found === null) return undefined;
    this.at = found.index;
    return this.text.slice(begin, this.at);
  }

  /** Returns the match of a sticky pattern at the cursor, and moves past it. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    this.examined++;
    if (found !== undefined) this.#moveTo(this.at + found.length);
    return found;
  }

  /** Fails if a special token lies between two offsets, the first not before that of the last check: it has no place in a name or a string. */
  rejectTokens(from: number, to: number, where: string): void {
    while ((this.#ordered[this.#passed] ?? Infinity) < from) this.#passed++;
    const at = this.#ordered[this.#passed] ?? Infinity;
    if (at >= to) return;
    this.at = at;
    this.fail(`Found ${this.describeNext()} in ${where}.`);
  }

  #moveTo(at: number): void {
    this.examined += at - this.at + 1;
    this.at = at;
  }

  #isMarker(marker: string, at: number): boolean {
    return !this.#specials.has(marker) || this.#tokens.has(at);
  }
}

/** Returns text in quotation marks for a message, shortened to 40 characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}...` : text);
}

const PATTERNS = new Map<string, RegExp>();

/** Returns the pattern of markers of a format, compiled once. */
export function anyOf(markers: readonly string[]): RegExp {
  const key = markers.join("\n");
  const pattern = PATTERNS.get(key) ?? markerPattern(markers);
  PATTERNS.set(key, pattern);
  return pattern;
}
