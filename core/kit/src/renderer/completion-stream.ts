import { createHash } from "node:crypto";
import type { Message, Part } from "@mrlm/spec";
import type { ParseContext } from "@mrlm/spec/host";
import { CompletionParser } from "./completion-parser.ts";
import { markersOf, type ToolFormat } from "./formats/format.ts";
import { TOOL_FORMATS } from "./formats/formats.ts";
import type { CallReader } from "./rendered-calls.ts";
import { TokenText } from "./token-text.ts";
import type { TextTokenizer } from "./tokenizer.ts";

/** Message of a policy, token by token. */
export interface CompletionStream {
  /** Adds tokens and returns the parts that they complete. Text and reasoning come in several parts. */
  push(tokens: Int32Array): Part[];
  /** Adds the beginning of the text of a token, whose rest is not part of the message. */
  pushText(text: string): Part[];
  /** Ends the message and returns its last parts. */
  end(): Part[];
  /** Returns the message: equal to the result of `parse` for the same tokens. Valid after `end`. */
  message(): Message;
}

/** Settings of a model for the parsing of its completions. */
export interface CompletionSettings extends CallReader {
  readonly tokenizer: TextTokenizer;
  readonly stopTokenIds: readonly number[];
  readonly isThinking: (context: ParseContext) => boolean;
  /** Cache of {@link TokenText}. */
  readonly partial: Map<number, boolean>;
}

/** Options of {@link completionStream}. */
export interface CompletionStreamOptions {
  /** False to leave calls of tools in the text, with their markers. Default: true. */
  readonly readsCalls?: boolean;
}

/** Returns a parser of one completion. A stop token at its end is not part of the message. */
export function completionStream(
  settings: CompletionSettings,
  context: ParseContext = {},
  { readsCalls = true }: CompletionStreamOptions = {},
): CompletionStream {
  const { tokenizer, format } = settings;
  const toolFormat: ToolFormat = TOOL_FORMATS[format];
  const { startsBlock: _, ...others } = toolFormat;
  /** Markers that are text. */
  const written = readsCalls ? undefined : new Set(markersOf(toolFormat));
  const nextId = callIds(context.takenIds);
  const parser = new CompletionParser({
    name: format,
    format: readsCalls ? toolFormat : { ...others, openings: [], inner: [] },
    specials: settings.specials,
    thinking: settings.thinking,
    isThinking: settings.isThinking(context),
    tools: context.tools,
    nextId: (call) => nextId(call.id),
  });
  const decoder = new TokenText(tokenizer, settings.partial);
  const builder = new MessageBuilder(context.tools?.length !== 0);
  /** Stop token that ends the message, unless others follow. */
  let stop: number | undefined;

  const parse = (pieces: ReturnType<TokenText["push"]>): Part[] =>
    pieces.flatMap((piece) => {
      if ("text" in piece) return parser.push(piece.text);
      return written?.has(piece.special) ? parser.push(piece.special) : parser.pushToken(piece.special);
    });
  const built = (parts: Part[]): Part[] => {
    for (const part of parts) builder.add(part);
    return parts;
  };
  return {
    push(tokens) {
      if (tokens.length === 0) return [];
      const last = tokens.at(-1) as number;
      const before = stop === undefined ? [] : [stop];
      stop = settings.stopTokenIds.includes(last) ? last : undefined;
      const taken = stop === undefined ? tokens : tokens.subarray(0, -1);
      return built(parse(decoder.push(before.length === 0 ? taken : Int32Array.from([...before, ...taken]))));
    },
    pushText: (text) => built([...parse(decoder.end()), ...parser.push(text)]),
    end: () => built([...parse(decoder.end()), ...parser.end()]),
    message: () => builder.build(),
  };
}

/** Builds a message from the parts of a {@link CompletionParser}, which come in pieces. */
export class MessageBuilder {
  readonly #parts: Part[] = [];
  /** Pieces of the last part, if it is text or reasoning. */
  #pieces: string[] = [];
  #type: "text" | "thinking" | undefined;
  readonly #keepsMalformed: boolean;

  /** @param keepsMalformed false to convert malformed calls to text */
  constructor(keepsMalformed: boolean) {
    this.#keepsMalformed = keepsMalformed;
  }

  add(part: Part): void {
    if (part.type === "text" || part.type === "thinking") this.#join(part.type, part.text);
    else if (part.type === "malformed-call" && !this.#keepsMalformed) this.#join("text", part.text);
    else {
      this.#close();
      this.#parts.push(part);
    }
  }

  build(): Message {
    this.#close();
    // Templates write the white space around calls themselves. Beside a malformed call the renderer writes all calls, and white space must stay.
    const isExact = this.#parts.some(({ type }) => type === "malformed-call");
    return { role: "assistant", parts: isExact ? this.#parts : withoutSpace(this.#parts) };
  }

  #join(type: "text" | "thinking", text: string): void {
    if (this.#type !== type) this.#close();
    this.#type = type;
    this.#pieces.push(text);
  }

  #close(): void {
    const text = this.#pieces.join("");
    if (this.#type === "thinking") this.#parts.push({ type: "thinking", text: text.trim() });
    else if (text !== "") this.#parts.push({ type: "text", text });
    this.#pieces = [];
    this.#type = undefined;
  }
}

/** Returns the parts without the white space before calls and after the last one. A message of white space alone is kept. */
function withoutSpace(parts: readonly Part[]): Part[] {
  return parts
    .map((part, i) =>
      part.type === "text" && parts[i + 1]?.type === "tool-call" ? { ...part, text: part.text.trimEnd() } : part,
    )
    .filter((part, i) => part.type !== "text" || (part.text !== "" && (i === 0 || part.text.trim() !== "")));
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LENGTH = 9;

/**
 * Returns a source of ids for the calls of one message. Ids have 9 letters and digits, which Mistral's chat template requires, and are unique in the episode.
 * They depend on nothing but the arguments, so that a repeated episode has the same ids.
 *
 * @param earlier ids of the earlier calls of the episode
 * @returns function that returns the given id if it has the right form and is free, else the next free one
 */
export function callIds(earlier: ReadonlySet<string> = new Set()): (written?: string) => string {
  const taken = new Set(earlier);
  let number = taken.size;
  return (written) => {
    let id = written ?? "";
    while (!/^[A-Za-z0-9]{9}$/.test(id) || taken.has(id)) id = idOf(number++);
    taken.add(id);
    return id;
  };
}

function idOf(number: number): string {
  let rest = createHash("sha256").update(String(number)).digest().readBigUInt64BE();
  return Array.from({ length: LENGTH }, () => {
    const digit = ALPHABET[Number(rest % 62n)] as string;
    rest /= 62n;
    return digit;
  }).join("");
}
