import { type Extension, type Message, MrlmError, type SupervisedSequence, type ToolDefinition } from "@mrlm/spec";
import type { ChatTemplate } from "./chat-template.ts";

interface Conversation {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[] | undefined;
  readonly template: ChatTemplate;
  readonly encode: (text: string) => Int32Array;
  readonly extend: (tokens: Int32Array, history: readonly Message[], messages: readonly Message[], tools?: readonly ToolDefinition[]) => Extension;
  readonly afterStop: (rendered: string) => { stop: string; tail: string };
}

/**
 * Tokens of a whole conversation, built turn by turn just as an episode builds them, so that what is learnt by imitation has
 * the tokens that will be sampled. A template that rewrites history starts a new sequence, as it starts a new segment there.
 */
export function superviseConversation(conversation: Conversation): readonly SupervisedSequence[] {
  const { messages, tools, template, encode, extend, afterStop } = conversation;
  const finished: SupervisedSequence[] = [];
  let tokens: number[] = [];
  let mask: number[] = [];
  let seen = 0;
  for (const [turn, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    const prompt = template(messages.slice(0, turn), tools, true);
    const whole = template(messages.slice(0, turn + 1), tools, false);
    if (!whole.startsWith(prompt)) {
      throw new MrlmError("TOKENIZER_INVALID", "The chat template renders a policy's message differently from the prompt that precedes it.", {
        hint: "Demonstrations need a template whose generation prompt is a prefix of the rendered message.",
      });
    }
    let context = encode(prompt);
    if (tokens.length > 0) {
      const extension = extend(Int32Array.from(tokens), messages.slice(0, seen), messages.slice(seen, turn), tools);
      if (extension.kind === "restart") {
        finished.push({ tokens: Int32Array.from(tokens), mask: Uint8Array.from(mask) });
        tokens = [];
        mask = [];
      }
      context = extension.tokens;
    }
    const { tail } = afterStop(whole);
    const said = encode(whole.slice(prompt.length, whole.length - tail.length));
    tokens.push(...context, ...said);
    mask.push(...new Array<number>(context.length).fill(0), ...new Array<number>(said.length).fill(1));
    seen = turn + 1;
  }
  if (tokens.length === 0) throw new MrlmError("DATA_INVALID", "The conversation has no message of role assistant: there is nothing to learn from it.");
  return [...finished, { tokens: Int32Array.from(tokens), mask: Uint8Array.from(mask) }];
}
