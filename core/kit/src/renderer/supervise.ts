import { type Message, MrlmError, type SupervisedSequence, type ToolDefinition } from "@mrlm/spec";
import type { Extension } from "@mrlm/spec/host";
import type { ChatTemplate } from "./chat-template.ts";
import type { ThinkingMarkers } from "./completion-parser.ts";
import { afterStop } from "./next-turn.ts";

interface Conversation {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[] | undefined;
  readonly template: ChatTemplate;
  readonly encode: (text: string) => Int32Array;
  readonly extend: (
    tokens: Int32Array,
    history: readonly Message[],
    messages: readonly Message[],
    tools?: readonly ToolDefinition[],
  ) => Extension;
  /** Texts of the stop tokens. */
  readonly stops: readonly string[];
  readonly thinking: ThinkingMarkers;
}

/**
 * Returns the tokens of a whole conversation. They are built turn by turn as in an episode, so that supervised learning uses the tokens that a policy would
 * sample. If the template rewrites the history, a new sequence starts, as a new segment does in an episode.
 */
export function superviseConversation(conversation: Conversation): readonly SupervisedSequence[] {
  const { messages, tools, template, encode, extend, stops } = conversation;
  const finished: SupervisedSequence[] = [];
  let tokens: Int32Array = new Int32Array();
  let mask: Uint8Array = new Uint8Array();
  let seen = 0;
  for (const [turn, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    const prompt = template(messages.slice(0, turn), tools, true);
    const whole = template(messages.slice(0, turn + 1), tools, false);
    if (!whole.startsWith(prompt)) {
      throw new MrlmError(
        "TOKENIZER_INVALID",
        "The chat template renders a policy's message differently from the prompt that precedes it.",
        {
          hint: "Demonstrations need a template whose generation prompt is a prefix of the rendered message.",
        },
      );
    }
    let context: Int32Array;
    if (tokens.length === 0) context = encode(prompt);
    else {
      const extension = extend(tokens, messages.slice(0, seen), messages.slice(seen, turn), tools);
      if (extension.kind === "restart") {
        finished.push({ tokens, mask });
        tokens = new Int32Array();
        mask = new Uint8Array();
      }
      context = extension.tokens;
    }
    const { tail } = afterStop(whole, stops);
    const response = encode(
      withoutInserted(whole.slice(prompt.length, whole.length - tail.length), message, conversation),
    );
    tokens = concat<Int32Array>(
      [tokens, context, response],
      new Int32Array(tokens.length + context.length + response.length),
    );
    mask = concat<Uint8Array>(
      [mask, new Uint8Array(context.length), new Uint8Array(response.length).fill(1)],
      new Uint8Array(tokens.length),
    );
    seen = turn + 1;
  }
  if (tokens.length === 0)
    throw new MrlmError(
      "DATA_INVALID",
      "The conversation has no message of role assistant: there is nothing to learn from it.",
    );
  return [...finished, { tokens, mask }];
}

/** Returns the text of an answer without the empty reasoning that some templates write into the last message: a policy samples none. */
function withoutInserted(text: string, { parts }: Message, { thinking }: Conversation): string {
  if (!text.startsWith(thinking.open) || parts.some(({ type }) => type === "thinking")) return text;
  const rest = text.slice(thinking.open.length).trimStart();
  return rest.startsWith(thinking.close) ? rest.slice(thinking.close.length).trimStart() : text;
}

/** Concatenates `pieces` into `whole`, whose length is the sum of theirs. */
function concat<T extends Int32Array | Uint8Array>(pieces: readonly T[], whole: T): T {
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
