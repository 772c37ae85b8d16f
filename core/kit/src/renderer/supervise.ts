import { type Extension, type Message, MrlmError, type SupervisedSequence, type ToolDefinition } from "@mrlm/spec";
import type { ChatTemplate } from "./chat-template.ts";

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
  readonly afterStop: (rendered: string) => { stop: string; tail: string };
}

/**
 * Tokens of a whole conversation, built turn by turn just as an episode builds them, so that what is learnt by imitation has
 * the tokens that will be sampled. A template that rewrites history starts a new sequence, as it starts a new segment there.
 */
export function superviseConversation(conversation: Conversation): readonly SupervisedSequence[] {
  const { messages, tools, template, encode, extend, afterStop } = conversation;
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
    let context = encode(prompt);
    if (tokens.length > 0) {
      const extension = extend(tokens, messages.slice(0, seen), messages.slice(seen, turn), tools);
      if (extension.kind === "restart") {
        finished.push({ tokens, mask });
        tokens = new Int32Array();
        mask = new Uint8Array();
      }
      context = extension.tokens;
    }
    const { tail } = afterStop(whole);
    const said = encode(whole.slice(prompt.length, whole.length - tail.length));
    tokens = concat<Int32Array>([tokens, context, said], new Int32Array(tokens.length + context.length + said.length));
    mask = concat<Uint8Array>(
      [mask, new Uint8Array(context.length), new Uint8Array(said.length).fill(1)],
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

/** The pieces, one after the other, in an array that has room for just them. */
function concat<T extends Int32Array | Uint8Array>(pieces: readonly T[], whole: T): T {
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
