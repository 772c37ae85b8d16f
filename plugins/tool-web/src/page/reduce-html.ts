import { Tokenizer } from "htmlparser2";
import { ALIASES, BLOCKS, endsByStart, INLINE, passesEnd, SKIPPED, VOID } from "./html-names.ts";

/** Limits of the work that one page may cause. Parsers of HTML and Markdown converters need more than linear time for deep or wide trees. */
export interface ReduceLimits {
  /** Elements in the result. */
  readonly elements: number;
  /** Characters of text in the result. */
  readonly characters: number;
  /** Nesting of elements. Deeper tags are omitted; their text stays. */
  readonly depth: number;
}

/** HTML with the elements and attributes that matter to a reader, well nested. */
export interface ReducedHtml {
  readonly html: string;
  /** Text of the `style` elements. */
  readonly css: string;
  /** The limit of style sheets cut them. */
  readonly isCssCut: boolean;
  /** The limits cut the page. */
  readonly isTruncated: boolean;
}

const KEPT_ATTRIBUTES = new Set(
  "href src alt alttext title class id style hidden aria-hidden role open type checked colspan rowspan start align datetime".split(
    " ",
  ),
);
const MAX_ATTRIBUTE_CHARACTERS = 2048;
/** The attributes that decide whether an element is visible may be longer. */
const MAX_STYLE_CHARACTERS = 65_536;
const MAX_CSS_CHARACTERS = 400_000;
/** Quotations and lists indent every line once per level. */
const MAX_INDENTATION = 12;
const INDENTING = new Set(["blockquote", "ul", "ol"]);

/**
 * Rewrites HTML in one pass of linear time, so that the parser and the converter after it receive a small, well nested page: elements without text
 * (scripts, pictures of vectors) and most attributes are left out, elements are closed in order, depth and size are limited.
 */
export function reduceHtml(source: string, limits: ReduceLimits): ReducedHtml {
  const reducer = new Reducer(source, limits);
  const tokenizer = new Tokenizer(
    { decodeEntities: false },
    reducer.callbacks(() => tokenizer.pause()),
  );
  tokenizer.write(source);
  tokenizer.end();
  return reducer.result();
}

class Reducer {
  readonly #source: string;
  readonly #limits: ReduceLimits;
  readonly #out: string[] = [];
  readonly #open: string[] = [];
  readonly #css: string[] = [];
  #cssLength = 0;
  /** Number of elements without tags in the result, by name: their end tags are omitted too. */
  readonly #omitted = new Map<string, number>();
  #elements = 0;
  #characters = 0;
  #indentation = 0;
  #isTruncated = false;
  /** Start tag that is being read. */
  #name = "";
  #attributes = new Map<string, string>();
  #attribute = "";
  #value: string[] = [];
  /** Element whose content is being skipped, with the number of open elements of this name. */
  #skipped: { name: string; depth: number } | undefined;
  #pause: () => void = () => undefined;

  constructor(source: string, limits: ReduceLimits) {
    this.#source = source;
    this.#limits = limits;
  }

  callbacks(pause: () => void): ConstructorParameters<typeof Tokenizer>[1] {
    this.#pause = pause;
    const ignore = (): void => undefined;
    return {
      ontext: (start, end) => this.#text(start, end),
      ontextentity: ignore,
      oncdata: (start, end, offset) => this.#text(start, end - offset),
      oncomment: ignore,
      ondeclaration: ignore,
      onprocessinginstruction: ignore,
      onend: ignore,
      onopentagname: (start, end) => {
        this.#name = this.#source.slice(start, end).toLowerCase();
        this.#attributes = new Map();
      },
      onattribname: (start, end) => {
        this.#attribute = end - start > 20 ? "" : this.#source.slice(start, end).toLowerCase();
        this.#value = [];
      },
      onattribdata: (start, end) => {
        this.#value.push(this.#source.slice(start, Math.min(end, start + MAX_STYLE_CHARACTERS + 1)));
      },
      onattribentity: ignore,
      onattribend: () => this.#keepAttribute(this.#attribute, this.#value.join("")),
      onopentagend: () => this.#start(this.#name, false),
      onselfclosingtag: () => this.#start(this.#name, true),
      onclosetag: (start, end) => this.#end(this.#source.slice(start, end).toLowerCase()),
    };
  }

  result(): ReducedHtml {
    while (this.#open.length > 0) this.#pop();
    return {
      html: this.#out.join(""),
      css: this.#css.join("\n"),
      isCssCut: this.#cssLength > MAX_CSS_CHARACTERS,
      isTruncated: this.#isTruncated,
    };
  }

  #keepAttribute(name: string, value: string): void {
    if (!KEPT_ATTRIBUTES.has(name) || this.#attributes.has(name)) return;
    const isStyle = name === "style" || name === "class";
    if (value.length <= (isStyle ? MAX_STYLE_CHARACTERS : MAX_ATTRIBUTE_CHARACTERS)) this.#attributes.set(name, value);
    // A style that is too long to read must not show what it may hide.
    else if (name === "style") this.#attributes.set("hidden", "");
  }

  #text(start: number, end: number): void {
    if (this.#isTruncated) return;
    if (this.#skipped !== undefined) {
      if (this.#skipped.name === "style") {
        const rest = Math.max(0, MAX_CSS_CHARACTERS - this.#cssLength);
        this.#css.push(this.#source.slice(start, Math.min(end, start + rest)));
        this.#cssLength += end - start;
      }
      return;
    }
    const rest = this.#limits.characters - this.#characters;
    this.#characters += end - start;
    // A tag that is left out between two texts must not join them to a new tag.
    this.#out.push(this.#source.slice(start, Math.min(end, start + rest)).replaceAll("<", "&lt;"));
    if (this.#characters > this.#limits.characters) this.#truncate();
  }

  #start(tag: string, isSelfClosed: boolean): void {
    if (this.#isTruncated) return;
    if (this.#skipped !== undefined) {
      if (tag === this.#skipped.name && !isSelfClosed) this.#skipped.depth++;
      // Pictures end at elements of the page (HTML, "foreign content"), also without their end tag.
      else if (this.#skipped.name === "svg" && BLOCKS.has(tag)) this.#skipped = undefined;
      if (this.#skipped !== undefined) return;
    }
    const formula = tag === "math" ? this.#attributes.get("alttext") : undefined;
    if (formula !== undefined) this.#out.push(` $${formula.replaceAll("<", "&lt;")}$ `);
    if (SKIPPED.has(tag) || formula !== undefined) {
      if (!isSelfClosed || tag !== "svg") this.#skipped = { name: tag, depth: 1 };
      return;
    }
    const name = ALIASES.get(tag) ?? tag;
    const isBlock = name === "title" || BLOCKS.has(name);
    if (!isBlock && !VOID.has(name) && !INLINE.has(name)) return void this.#out.push(" ");
    if (name === "span" && this.#attributes.size === 0) return;
    for (let top = this.#open.at(-1); top !== undefined && endsByStart(top, name); top = this.#open.at(-1)) this.#pop();
    const isTooDeep =
      this.#open.length >= this.#limits.depth || (INDENTING.has(name) && this.#indentation >= MAX_INDENTATION);
    if (isTooDeep && !VOID.has(name)) {
      this.#omitted.set(name, (this.#omitted.get(name) ?? 0) + 1);
      return void this.#out.push(" ");
    }
    const attributes = [...this.#attributes].map(([key, value]) => ` ${key}="${value.replaceAll('"', "&quot;")}"`);
    this.#out.push(`<${name}${attributes.join("")}>`);
    if (!VOID.has(name)) {
      this.#open.push(name);
      if (INDENTING.has(name)) this.#indentation++;
    }
    this.#count();
  }

  #end(tag: string): void {
    if (this.#skipped !== undefined) {
      if (tag === this.#skipped.name && --this.#skipped.depth === 0) this.#skipped = undefined;
      return;
    }
    // `</br>` is a line break; `</p>` without a paragraph is an empty one.
    if (tag === "br" || (tag === "p" && !this.#open.includes("p"))) {
      this.#out.push("<br>");
      return this.#count();
    }
    const name = ALIASES.get(tag) ?? tag;
    const omitted = this.#omitted.get(name) ?? 0;
    if (omitted > 0) return void this.#omitted.set(name, omitted - 1);
    let index = this.#open.length - 1;
    while (index >= 0 && this.#open[index] !== name) {
      if (!passesEnd(this.#open[index] as string, name)) return;
      index--;
    }
    if (index < 0) return;
    // `<b><p>a</b>b</p>`: the blocks inside stay open, as in the "adoption agency algorithm" of HTML.
    const reopened = INLINE.has(name) ? this.#open.slice(index + 1).filter((other) => !INLINE.has(other)) : [];
    while (this.#open.length > index) this.#pop();
    for (const block of reopened) {
      this.#out.push(`<${block}>`);
      this.#open.push(block);
      if (INDENTING.has(block)) this.#indentation++;
      this.#count();
    }
  }

  #pop(): void {
    const name = this.#open.pop() as string;
    if (INDENTING.has(name)) this.#indentation--;
    this.#out.push(`</${name}>`);
  }

  #count(): void {
    if (++this.#elements >= this.#limits.elements) this.#truncate();
  }

  #truncate(): void {
    this.#isTruncated = true;
    this.#pause();
  }
}
