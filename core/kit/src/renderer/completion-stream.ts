import type { Message, Part } from "@mrlm/spec";
import type { ParseContext } from "@mrlm/spec/host";
import { CompletionParser } from "./completion-parser.ts";
import { markersOf, type ToolFormat } from "./formats/format.ts";
import { TOOL_FORMATS } from "./formats/formats.ts";
import { callIds, MessageBuilder } from "./message-builder.ts";
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
