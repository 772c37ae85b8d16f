import { createHash } from "node:crypto";
import {
  type Extension,
  type Message,
  MrlmError,
  type ParseContext,
  type Renderer,
  type SupervisedSequence,
  type ToolDefinition,
} from "@mrlm/spec";
import { chatTemplate } from "./chat-template.ts";
import { compileTemplate } from "./compiled-template.ts";
import { checkTools } from "./check-tools.ts";
import { type CompletionStream, completionStream, type CompletionStreamOptions } from "./completion-stream.ts";
import { type ToolFormatName, detectToolFormat } from "./formats/formats.ts";
import { superviseConversation } from "./supervise.ts";
import { specialToken } from "./spelled-markers.ts";
import { thinkingOf } from "./thinking.ts";
import { loadTokenizer, type TextTokenizer } from "./tokenizer.ts";

/** Renderer of a model with a chat template. */
export interface ChatRenderer extends Renderer {
  /** Form of the calls of the model; `undefined` if no parser reads it. */
  readonly toolFormat: ToolFormatName | undefined;
  readonly tokenizer: TextTokenizer;
  /** Returns a parser for tokens that arrive one after another. */
  stream(context?: ParseContext, options?: CompletionStreamOptions): CompletionStream;
}

/**
 * Returns the renderer of a model from its files: tokenizer and chat template. Sampled tokens are never tokenised again, only the text
 * between two turns of the policy.
 */
export function chatRenderer(options: {
  readonly tokenizerFiles: Readonly<Record<string, Uint8Array>>;
  /** Token ids that end a turn, from the configuration of the model. */
  readonly eosTokenIds: readonly number[];
  /** Form of the calls of the model. Default: detected from its template and its special tokens. */
  readonly toolFormat?: ToolFormatName;
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
  const toolFormat = options.toolFormat ?? detectToolFormat(toolSource, (token) => tokenizer.idOf(token) !== undefined);
  const format = toolFormat ?? "hermes";
  const compile = (source: string) => compileTemplate(source, variables, tokenizer.escape);
  const compiled = compile(tokenizer.chatTemplate);
  const compiledTools = toolSource === tokenizer.chatTemplate ? compiled : compile(toolSource);
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

  /** Splits a rendered conversation that ends with a message of the policy into the message, the stop token and the text that the template adds. */
  const afterStop = (rendered: string): { stop: string; tail: string } => {
    const found = stopTexts
      .map((stop) => ({ stop, at: rendered.lastIndexOf(stop) }))
      .filter(({ at }) => at >= 0)
      .sort((one, other) => other.at - one.at)[0];
    if (found === undefined)
      throw new MrlmError("TOKENIZER_INVALID", "The chat template does not end a policy's message with a stop token.");
    return { stop: found.stop, tail: rendered.slice(found.at + found.stop.length) };
  };

  /** Returns true if the template omits the reasoning of the last turn, which the sampled tokens contain. No rendering then contains it. */
  const isThinkingDropped = (
    after: string,
    history: readonly Message[],
    messages: readonly Message[],
    tools: readonly ToolDefinition[] | undefined,
  ): boolean => {
    const last = history.at(-1);
    if (last?.role !== "assistant" || !last.parts.some(({ type }) => type === "thinking")) return false;
    const without = { ...last, parts: last.parts.filter(({ type }) => type !== "thinking") };
    return template([...history.slice(0, -1), without, ...messages], tools, true) === after;
  };

  const extend = (
    tokens: Int32Array,
    history: readonly Message[],
    messages: readonly Message[],
    tools?: readonly ToolDefinition[],
  ): Extension => {
    const before = template(history, tools, false);
    const after = template([...history, ...messages], tools, true);
    if (!after.startsWith(before) || isThinkingDropped(after, history, messages, tools))
      return { kind: "restart", tokens: tokenizer.encode(after) };
    const { stop, tail } = afterStop(before);
    const stopped = stopTokenIds.includes(tokens.at(-1) as number);
    return { kind: "extend", tokens: tokenizer.encode((stopped ? "" : stop) + tail + after.slice(before.length)) };
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
    ]),
    stopTokenIds,
    vocabSize: tokenizer.vocabSize,
    render: (messages, tools) => ({ tokens: tokenizer.encode(template(messages, tools, true)) }),
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
      superviseConversation({ messages, tools, template, encode: tokenizer.encode, extend, afterStop }),
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
