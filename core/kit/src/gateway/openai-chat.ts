import { ChatChoice } from "./chat-choice.ts";
import { parseChatRequest } from "./chat-request.ts";
import { assertNoPrefill } from "./check-results.ts";
import type { Codec } from "./codec.ts";

/** Chat completions of OpenAI, with one choice. Counts of tokens are left out: an episode does not know them. */
export const openaiChat: Codec = {
  wire: "openai-chat",
  path: "/chat/completions",
  list: "messages",

  read(body, place = "episode") {
    const { n: _, logprobs: __, returnTokenIds: ___, includeUsage: ____, ...call } = parseChatRequest(body, place);
    assertNoPrefill(call.messages, `messages.${call.messages.length - 1}`);
    return call;
  },

  begin(call, { id, created }) {
    const choice = new ChatChoice(0, call);
    const response = (object: string, choices: readonly object[]): object => {
      return { id, object, created, model: call.model, choices };
    };
    const chunk = (each: object): object => response("chat.completion.chunk", [each]);
    return {
      add: (deltas) => [chunk(choice.event(choice.add(deltas)))],
      end: ({ finishReason }) => ({
        events: [chunk(choice.lastEvent(finishReason))],
        whole: response("chat.completion", [choice.whole(finishReason)]),
        hasFormat: choice.hasFormat,
      }),
    };
  },

  event: (data) => `data: ${JSON.stringify(data)}\n\n`,
  streamEnd: "data: [DONE]\n\n",
  error: ({ body }) => body,
};
