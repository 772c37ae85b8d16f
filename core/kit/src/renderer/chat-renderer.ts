import { createHash } from "node:crypto";
import { type Message, MrlmError, type Renderer, type SupervisedSequence, type ToolDefinition } from "@mrlm/spec";
import type { Extension, ParseContext } from "@mrlm/spec/host";
import { chatTemplate } from "./chat-template.ts";
import { compileTemplate } from "./compiled-template.ts";
import { checkTools } from "./check-tools.ts";
import { type CompletionStream, completionStream, type CompletionStreamOptions } from "./completion-stream.ts";
import { type ToolFormatName, detectToolFormat, TOOL_FORMATS } from "./formats/formats.ts";
import { mergedMessages, wholeMessages } from "./merged-messages.ts";
import { promptedTools, rendersTools } from "./prompted-tools.ts";
import { superviseConversation } from "./supervise.ts";
import { specialToken } from "./spelled-markers.ts";
import { thinkingOf } from "./thinking.ts";
import { windowOf } from "./conversation-window.ts";
import { messageEncoder } from "./message-encoder.ts";
import { nextTurn } from "./next-turn.ts";
import { windowProbe } from "./probe-window.ts";
import { loadTokenizer, type TextTokenizer } from "./tokenizer.ts";

/** Renderer of a model with a chat template. */
export interface ChatRenderer extends Renderer {
  /** Form of the calls of the model; `undefined` if no parser reads it. */
  readonly toolFormat: ToolFormatName | undefined;
  readonly tokenizer: TextTokenizer;
  /** Returns a parser for tokens that arrive one after another. */
  stream(context?: ParseContext, options?: CompletionStreamOptions): CompletionStream;
}

/** Characters at the start of decoded tokens that may differ from those in a longer text. */
const MARGIN = 8;

/**
 * Returns the renderer of a model from its files: tokenizer and chat template. Sampled tokens are never tokenised again, only the text
 * between two turns of the policy.
 */
export function chatRenderer(options: {
  readonly tokenizerFiles: Readonly<Record<string, Uint8Array>>;
  /** Token ids that end a turn, from the configuration of the model. */
  readonly eosTokenIds: readonly number[];
  /** Form of the calls of the model, in which a template without tools has them by the prompt. Default: detected from its template and its special tokens. */
  readonly toolFormat?: ToolFormatName;
  /** Whether messages are joined that the template would refuse or omit: system messages, and messages of the user that follow one another. */
  readonly mergeMessages?: boolean;
}): ChatRenderer {
  const tokenizer = loadTokenizer(options.tokenizerFiles);
  if (tokenizer.chatTemplate === undefined) {
    throw new MrlmError("TOKENIZER_INVALID", "The tokenizer has no chat template.", {
      hint: "Add `chat_template` to tokenizer_config.json or a chat_template.jinja beside it.",
    });
  }
  const special = (name: string): string => specialToken(tokenizer.config[name]);
  const variables = {
    bos_token: special("bos_token"),
    eos_token: special("eos_token"),
    pad_token: special("pad_token"),
  };
  const toolSource = tokenizer.toolTemplate ?? tokenizer.chatTemplate;
  const hasToken = (marker: string): boolean => tokenizer.idOf(marker) !== undefined;
  const toolFormat = options.toolFormat ?? detectToolFormat(toolSource, hasToken);
  const format = toolFormat ?? "hermes";
  const compile = (source: string) => {
    const template = compileTemplate(source, variables, tokenizer.escape);
    return options.mergeMessages === true ? mergedMessages(template) : wholeMessages(template);
  };
  const compiled = compile(tokenizer.chatTemplate);
  const own = toolSource === tokenizer.chatTemplate ? compiled : compile(toolSource);
  const compiledTools =
    options.toolFormat === undefined || rendersTools(own)
      ? own
      : promptedTools(own, TOOL_FORMATS[format], { escape: tokenizer.escape, hasToken });
  const { thinking, isThinking } = thinkingOf(tokenizer, [compiled, compiledTools]);
  const reader = { format, thinking, specials: new Set(tokenizer.specials.values()) };
  const plain = chatTemplate(compiled, reader, tokenizer);
  const withTools = compiledTools === compiled ? plain : chatTemplate(compiledTools, reader, tokenizer);
  const template = checkTools(
    (messages, tools, ...rest) => ((tools ?? []).length === 0 ? plain : withTools)(messages, tools, ...rest),
    toolFormat,
  );
  const eosId = tokenizer.idOf(special("eos_token"));
  const stopTokenIds = [...new Set([...(eosId === undefined ? [] : [eosId]), ...options.eosTokenIds])];
  if (stopTokenIds.length === 0)
    throw new MrlmError("TOKENIZER_INVALID", "The model names no token that ends a turn (eos_token).");
  const stopTexts = stopTokenIds.map((id) => tokenizer.decode(Int32Array.of(id)));

  const encode = messageEncoder(tokenizer, stopTexts);
  const isProbed = windowProbe(
    (history, messages, tools) =>
      nextTurn((tools ?? []).length === 0 ? plain : withTools, stopTexts, history, messages, tools),
    [...new Set([tokenizer.chatTemplate, toolSource])],
  );

  /** Returns true if the decoded tokens end with a text. */
  const endWith = (tokens: Int32Array, text: string): boolean => {
    const wanted = tokenizer.unescape(text);
    for (let count = wanted.length + MARGIN; ; count *= 2) {
      const decoded = tokenizer.decode(tokens.subarray(-count));
      if (count >= tokens.length || decoded.length >= wanted.length + MARGIN) return decoded.endsWith(wanted);
    }
  };

  const extend = (
    tokens: Int32Array,
    history: readonly Message[],
    messages: readonly Message[],
    tools?: readonly ToolDefinition[],
  ): Extension => {
    const window = windowOf(history);
    const isShort = window !== undefined && isProbed(window, (tools ?? []).length > 0);
    const turn = nextTurn(template, stopTexts, isShort ? window.messages : history, messages, tools);
    const isStopped = stopTokenIds.includes(tokens.at(-1) as number);
    const sampled = isStopped ? tokens.subarray(0, -1) : tokens;
    if (turn === undefined || (turn.sampled !== undefined && !endWith(sampled, turn.sampled)))
      return { kind: "restart", tokens: encode(template([...history, ...messages], tools, true)) };
    return { kind: "extend", tokens: encode((isStopped ? "" : turn.stop) + turn.rest) };
  };

  const settings = {
    tokenizer,
    stopTokenIds,
    ...reader,
    isThinking,
    partial: new Map<number, boolean>(),
  };
  const stream = (context?: ParseContext, given?: CompletionStreamOptions): CompletionStream =>
    completionStream(settings, context, given);

  return {
    fingerprint: fingerprintOf(options.tokenizerFiles["tokenizer.json"], [
      tokenizer.chatTemplate,
      stopTokenIds,
      // Only what differs from the default, so that the fingerprints of other models do not change.
      ...(toolSource === tokenizer.chatTemplate ? [] : [toolSource]),
      ...(options.toolFormat === undefined ? [] : [options.toolFormat]),
      ...(options.mergeMessages === true ? ["merge_messages"] : []),
    ]),
    stopTokenIds,
    vocabSize: tokenizer.vocabSize,
    render: (messages, tools) => ({ tokens: encode(template(messages, tools, true)) }),
    extend,
    toolFormat,
    tokenizer,
    parse(tokens, context) {
      const parser = stream(context);
      parser.push(tokens);
      parser.end();
      return parser.message();
    },
    stream,
    supervise: (messages, tools): readonly SupervisedSequence[] =>
      superviseConversation({ messages, tools, template, encode, extend, stops: stopTexts, thinking }),
    decode: tokenizer.decode,
  };
}

/** Returns a hash of 64 bits in hexadecimal. */
function fingerprintOf(tokenizerJson: Uint8Array | undefined, settings: readonly unknown[]): string {
  return createHash("sha256")
    .update(tokenizerJson ?? "")
    .update(JSON.stringify(settings))
    .digest("hex")
    .slice(0, 16);
}
