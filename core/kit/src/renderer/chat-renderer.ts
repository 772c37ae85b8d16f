import { createHash } from "node:crypto";
import {
  type Extension,
  type Message,
  MrlmError,
  type Renderer,
  type SupervisedSequence,
  type ToolDefinition,
} from "@mrlm/spec";
import { checkTools } from "./check-tools.ts";
import { compileChatTemplate } from "./chat-template.ts";
import { parseCompletion } from "./parse-completion.ts";
import { superviseConversation } from "./supervise.ts";
import { specialToken } from "./spelled-markers.ts";
import { loadTokenizer } from "./tokenizer.ts";

/**
 * Returns the renderer of a model from its files: tokenizer and chat template. Sampled tokens are never tokenised again, only the text
 * between two turns of the policy.
 */
export function chatRenderer(options: {
  readonly tokenizerFiles: Readonly<Record<string, Uint8Array>>;
  /** Token ids that end a turn, from the configuration of the model. */
  readonly eosTokenIds: readonly number[];
}): Renderer {
  const tokenizer = loadTokenizer(options.tokenizerFiles);
  if (tokenizer.chatTemplate === undefined) {
    throw new MrlmError("TOKENIZER_INVALID", "The tokenizer has no chat template.", {
      hint: "Add `chat_template` to tokenizer_config.json or a chat_template.jinja beside it.",
    });
  }
  const special = (name: string): string => specialToken(tokenizer.config[name]);
  const template = checkTools(
    compileChatTemplate(
      tokenizer.chatTemplate,
      { bos_token: special("bos_token"), eos_token: special("eos_token"), pad_token: special("pad_token") },
      tokenizer.escape,
    ),
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

  return {
    fingerprint: fingerprintOf(options.tokenizerFiles["tokenizer.json"], tokenizer.chatTemplate, stopTokenIds),
    stopTokenIds,
    vocabSize: tokenizer.vocabSize,
    render: (messages, tools) => ({ tokens: tokenizer.encode(template(messages, tools, true)) }),
    extend,
    parse: (tokens) =>
      parseCompletion(
        tokenizer.decodeText(stopTokenIds.includes(tokens.at(-1) as number) ? tokens.subarray(0, -1) : tokens),
      ),
    supervise: (messages, tools): readonly SupervisedSequence[] =>
      superviseConversation({ messages, tools, template, encode: tokenizer.encode, extend, afterStop }),
    decode: tokenizer.decode,
  };
}

/** Returns a hash of 64 bits in hexadecimal. */
function fingerprintOf(
  tokenizerJson: Uint8Array | undefined,
  template: string,
  stopTokenIds: readonly number[],
): string {
  return createHash("sha256")
    .update(tokenizerJson ?? "")
    .update(JSON.stringify([template, stopTokenIds]))
    .digest("hex")
    .slice(0, 16);
}
