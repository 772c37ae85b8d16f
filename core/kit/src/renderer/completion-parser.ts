import type { Part, ToolDefinition } from "@mrlm/spec";
import { BlockReader, CallFault, anyOf, quote } from "./block-reader.ts";
import type { Opening, ToolFormat, WrittenCall } from "./formats/format.ts";
import type { ToolFormatName } from "./formats/formats.ts";

/** Greatest number of characters of a block of calls, which bounds the memory of a parser. */
export const MAX_BLOCK = 2 ** 20;

/** Greatest number of characters that the parser holds back at the start of a message or an answer until it decides how they continue. */
const MAX_START = 256;

/** Markers of reasoning. */
export interface ThinkingMarkers {
  readonly open: string;
  readonly close: string;
}

export interface ParserOptions {
  readonly name: ToolFormatName;
  readonly format: ToolFormat;
  /** Special tokens of the tokenizer. Markers among them count only as tokens, and as text otherwise. */
  readonly specials: ReadonlySet<string>;
  readonly thinking: ThinkingMarkers;
  /** True if the prompt ends with the opening marker of reasoning. */
  readonly isThinking: boolean;
  /** Tools that the prompt offers; `undefined` if not known. */
  readonly tools: readonly ToolDefinition[] | undefined;
  readonly nextId: (call: WrittenCall) => string;
}

/** Fault without the stack of an error, which would take most of the time for many short blocks. */
type Fault = Pick<CallFault, "message" | "offset">;

interface Block {
  readonly opening: Opening | undefined;
  readonly pieces: string[];
  length: number;
  /** Offsets of special tokens. */
  readonly tokens: Set<number>;
  /** Last characters, which may begin the end marker. */
  tail: string;
  /** First fault found while the block was collected. */
  fault: Fault | undefined;
}

type State = "start" | "thinking" | "after-thinking" | "answer" | "text" | "block";

/**
 * Parses the message of a policy piece by piece. The parts of all pieces together do not depend on how the text is divided; text and reasoning come in
 * several parts. Time is linear in the length of the text. Memory is bounded by {@link MAX_BLOCK}.
 */
export class CompletionParser {
  readonly #options: ParserOptions;
  readonly #openings: ReadonlyMap<string, Opening>;
  /** Opening markers that are text. */
  readonly #written: readonly string[];
  readonly #markers: ReadonlySet<string>;
  readonly #startsBlock: ToolFormat["startsBlock"];
  #state: State;
  /** Characters that may begin a marker. */
  #held = "";
  #block: Block | undefined;
  #parts: Part[] = [];
  #examined = 0;

  constructor(options: ParserOptions) {
    const { format, specials, tools } = options;
    this.#options = options;
    const openings = format.openings.filter(({ marker, isToken }) => isToken !== true || specials.has(marker));
    this.#openings = new Map(openings.map((opening) => [opening.marker, opening]));
    this.#written = [...this.#openings.keys()].filter((marker) => !specials.has(marker));
    this.#markers = new Set([...this.#openings.keys(), ...format.inner]);
    this.#state = options.isThinking ? "thinking" : "start";
    if (options.isThinking) this.#parts.push({ type: "thinking", text: "" });
    // An answer that looks like a call is one only if the prompt offers tools.
    this.#startsBlock = tools?.length === 0 ? undefined : format.startsBlock;
  }

  /** Characters examined so far, for tests of linear time. */
  get examined(): number {
    return this.#examined;
  }

  /** Adds text and returns the parts that it completes. */
  push(text: string): Part[] {
    this.#run(text, false);
    return this.#taken();
  }

  /** Adds a special token and returns the parts that it completes. Tokens that are no markers are not part of the message. */
  pushToken(token: string): Part[] {
    const { open, close } = this.#options.thinking;
    this.#examined += token.length;
    if (token === open && this.#state === "start") this.#openThinking();
    else {
      this.#flush();
      if (this.#state === "block") this.#addToken(this.#block as Block, token);
      else if (token === close && this.#state === "thinking") this.#state = "after-thinking";
      else this.#openAt(token);
    }
    return this.#taken();
  }

  /** Ends the message and returns its last parts. */
  end(): Part[] {
    this.#flush();
    const block = this.#block;
    if (block !== undefined) {
      const end = block.opening?.end;
      if (end !== undefined)
        block.fault ??= { message: `The call has no end: ${quote(end)} is missing.`, offset: block.length };
      this.#close(block);
    }
    return this.#taken();
  }

  #taken(): Part[] {
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  /** Decides about the characters held back: no more text follows them. */
  #flush(): void {
    this.#run("", true);
  }

  #run(added: string, isLast: boolean): void {
    let text = this.#held + added;
    this.#held = "";
    // Each state consumes text and returns the rest, or holds it back and returns "".
    while (text !== "") text = this.#step(text, isLast);
  }

  #step(text: string, isLast: boolean): string {
    switch (this.#state) {
      case "start":
        return this.#start(text, isLast);
      case "thinking":
        return this.#think(text, isLast);
      case "after-thinking":
        return this.#skipSpace(text);
      case "answer":
        return this.#answer(text, isLast);
      case "text":
        return this.#write(text, isLast);
      default:
        return this.#collect(this.#block as Block, text);
    }
  }

  #start(text: string, isLast: boolean): string {
    const { open } = this.#options.thinking;
    const rest = text.trimStart();
    const space = text.length - rest.length;
    this.#examined += space + open.length;
    const isToken = this.#options.specials.has(open);
    if (!isToken && space <= MAX_START && rest.startsWith(open)) {
      this.#openThinking();
      return rest.slice(open.length);
    }
    const mayOpen = isToken ? rest === "" : open.startsWith(rest);
    if (mayOpen && space <= MAX_START && !isLast) return this.#hold(text);
    this.#state = "answer";
    return text;
  }

  /** Begins the reasoning. White space before it is not part of the message. */
  #openThinking(): void {
    this.#held = "";
    this.#parts.push({ type: "thinking", text: "" });
    this.#state = "thinking";
  }

  #think(text: string, isLast: boolean): string {
    const { close } = this.#options.thinking;
    const isText = !this.#options.specials.has(close);
    const found = isText ? text.indexOf(close) : -1;
    this.#examined += found < 0 ? text.length : found + close.length;
    if (found >= 0) {
      this.#parts.push({ type: "thinking", text: text.slice(0, found) });
      this.#state = "after-thinking";
      return text.slice(found + close.length);
    }
    const kept = isLast || !isText ? text.length : text.length - partialLength(text, [close]);
    if (kept > 0) this.#parts.push({ type: "thinking", text: text.slice(0, kept) });
    return this.#hold(text.slice(kept));
  }

  #skipSpace(text: string): string {
    const rest = text.trimStart();
    this.#examined += text.length - rest.length + 1;
    if (rest !== "") this.#state = "answer";
    return rest;
  }

  #answer(text: string, isLast: boolean): string {
    const startsBlock = this.#startsBlock ?? (() => false);
    const isBlock = startsBlock(text.slice(0, MAX_START));
    this.#examined += Math.min(text.length, MAX_START);
    if (isBlock === undefined && text.length < MAX_START && !isLast) return this.#hold(text);
    if (isBlock === true) this.#open(undefined);
    else this.#state = "text";
    return text;
  }

  #write(text: string, isLast: boolean): string {
    if (this.#written.length > 0) {
      const pattern = anyOf(this.#written);
      pattern.lastIndex = 0;
      const found = pattern.exec(text);
      this.#examined += found === null ? text.length : found.index + found[0].length;
      if (found !== null) {
        this.#pushText(text.slice(0, found.index));
        const opening = this.#openings.get(found[0]) as Opening;
        this.#open(opening);
        this.#append(this.#block as Block, opening.marker);
        if (opening.end === opening.marker) this.#close(this.#block as Block);
        return text.slice(found.index + opening.marker.length);
      }
    }
    const kept = isLast ? text.length : text.length - partialLength(text, this.#written);
    this.#pushText(text.slice(0, kept));
    return this.#hold(text.slice(kept));
  }

  #hold(text: string): string {
    this.#held = text;
    return "";
  }

  #pushText(text: string): void {
    if (text !== "") this.#parts.push({ type: "text", text });
  }

  /** Opens a block at a special token. In reasoning too: the token has no other meaning, and the model has left out the end of its reasoning. */
  #openAt(token: string): void {
    const opening = this.#openings.get(token);
    const fault = this.#markers.has(token) ? `${quote(token)} stands outside a call.` : undefined;
    if (opening === undefined && fault === undefined) return;
    this.#open(opening ?? { marker: token, end: token, fault: fault as string });
    this.#addToken(this.#block as Block, token);
  }

  #open(opening: Opening | undefined): void {
    this.#state = "block";
    const fault = opening?.fault === undefined ? undefined : { message: opening.fault, offset: 0 };
    this.#block = { opening, pieces: [], length: 0, tokens: new Set(), tail: "", fault };
  }

  #append(block: Block, text: string): void {
    block.pieces.push(text);
    block.length += text.length;
  }

  #addToken(block: Block, token: string): void {
    const { opening, length } = block;
    if (!this.#markers.has(token)) {
      block.fault ??= { message: `The token ${quote(token)} stands in the call.`, offset: length };
      return;
    }
    if (length + token.length > MAX_BLOCK) {
      this.#cut(block);
      this.#openAt(token);
      return;
    }
    block.tokens.add(length);
    block.tail = "";
    this.#append(block, token);
    if (token === opening?.end) this.#close(block);
  }

  #collect(block: Block, text: string): string {
    const end = block.opening?.end;
    const isWritten = end !== undefined && !this.#options.specials.has(end);
    // One character past the limit decides that the block is too long.
    const room = MAX_BLOCK - block.length;
    const window = text.slice(0, room + 1);
    const searched = block.tail + window;
    const found = isWritten ? searched.indexOf(end) : -1;
    const taken = found < 0 ? window.length : found + (end as string).length - block.tail.length;
    this.#examined += taken + block.tail.length;
    this.#append(block, window.slice(0, taken));
    if (taken > room) {
      const over = this.#cut(block);
      // A slice, because joined text would be copied once for each block.
      return over.length > taken ? over + text.slice(taken) : text.slice(taken - over.length);
    }
    if (found >= 0) this.#close(block);
    else if (isWritten) block.tail = searched.slice(-Math.min(searched.length, end.length - 1));
    return text.slice(taken);
  }

  /** Ends a block that is too long, and returns the characters that exceed the limit: at most two, because no surrogate pair is divided. */
  #cut(block: Block): string {
    const text = block.pieces.join("");
    this.#examined += text.length;
    const dividesPair = /[\uD800-\uDBFF]/.test(text[MAX_BLOCK - 1] ?? "");
    const kept = Math.min(text.length, dividesPair ? MAX_BLOCK - 1 : MAX_BLOCK);
    this.#reject(
      text.slice(0, kept),
      block.fault ?? { message: `The call is longer than ${MAX_BLOCK} characters.`, offset: kept },
    );
    return text.slice(kept);
  }

  #close(block: Block): void {
    const { format, specials, tools } = this.#options;
    const text = block.pieces.join("");
    this.#examined += text.length;
    if (block.fault !== undefined) {
      this.#reject(text, block.fault);
      return;
    }
    const reader = new BlockReader(text, block.tokens, specials);
    try {
      for (const call of format.read(reader, tools))
        this.#parts.push({
          type: "tool-call",
          id: this.#options.nextId(call),
          name: call.name,
          arguments: call.arguments,
        });
      this.#leave();
    } catch (cause) {
      if (!(cause instanceof CallFault)) throw cause;
      this.#reject(text, cause);
    } finally {
      this.#examined += reader.examined;
    }
  }

  #reject(text: string, { message, offset }: Fault): void {
    this.#parts.push({ type: "malformed-call", text, format: this.#options.name, error: message, offset });
    this.#leave();
  }

  #leave(): void {
    this.#block = undefined;
    this.#state = "text";
  }
}

/** Returns the length of the longest end of a text that begins one of the markers. */
function partialLength(text: string, markers: readonly string[]): number {
  const longest = Math.max(0, ...markers.map((marker) => marker.length - 1));
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const end = text.slice(text.length - length);
    if (markers.some((marker) => marker.length > length && marker.startsWith(end))) return length;
  }
  return 0;
}
