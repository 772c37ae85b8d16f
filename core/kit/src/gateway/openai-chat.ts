import { ChatChoice } from "./chat-choice.ts";
import { parseChatRequest } from "./chat-request.ts";
import { assertNoPrefill } from "./check-results.ts";
import type { Codec } from "./codec.ts";

/** Chat completions of OpenAI, with one choice. */
export const openaiChat: Codec = {
  wire: "openai-chat",
  path: "/chat/completions",
  list: "messages",

  read(body, place = "episode") {
    const { n: _, logprobs: __, returnTokenIds: ___, includeUsage, ...call } = parseChatRequest(body, place);
    assertNoPrefill(call.messages, `messages.${call.messages.length - 1}`);
    return { ...call, ...(includeUsage && { includeUsage }) };
  },

  begin(call, { id, created, inputTokens }) {
    const choice = new ChatChoice(0, call);
    const response = (object: string, choices: readonly object[]): object => {
      return { id, object, created, model: call.model, choices };
    };
    const chunk = (...each: readonly object[]): object => response("chat.completion.chunk", each);
    return {
      add: (deltas) => [chunk(choice.event(choice.add(deltas)))],
      end({ finishReason, outputTokens: completion_tokens = 0 }) {
        const total_tokens = inputTokens + completion_tokens;
        const usage = { prompt_tokens: inputTokens, completion_tokens, total_tokens };
        const last = chunk(choice.lastEvent(finishReason));
        return {
          events: call.includeUsage === true ? [last, { ...chunk(), usage }] : [last],
          // Clients read the member in each answer.
          whole: { ...response("chat.completion", [choice.whole(finishReason)]), usage },
          hasFormat: choice.hasFormat,
        };
      },
    };
  },

  event: (data) => `data: ${JSON.stringify(data)}\n\n`,
  streamEnd: "data: [DONE]\n\n",
  error: ({ body }) => body,
};
