import { defined, type JsonObject } from "@mrlm/spec";
import { ChatChoice, deltasOf } from "./chat-choice.ts";
import { parseChatRequest } from "./chat-request.ts";
import { assertNoPrefill } from "./check-results.ts";
import type { Codec } from "./codec.ts";
import { recordedParameters } from "./parameters.ts";

/** Chat completions of OpenAI, for the calls of an episode. Counts of tokens are left out: an environment does not know them. */
export const openaiChat: Codec = {
  wire: "openai-chat",
  path: "/chat/completions",

  read(body) {
    const request = parseChatRequest(body, "episode");
    const { messages, tools, model, stream = false, stop, maxTokens, requiredTool, format } = request;
    assertNoPrefill(messages, `messages.${messages.length - 1}`);
    return {
      messages,
      tools,
      model,
      stream,
      stops: [stop ?? []].flat(),
      parameters: recordedParameters(body as JsonObject),
      ...defined({ maxTokens, requiredTool, format }),
    };
  },

  write({ model, stream }, { message, finishReason }, id) {
    const head = (object: string): object => ({ id, object, created: 0, model });
    const choice = new ChatChoice(0);
    const delta = choice.add(deltasOf(message));
    if (!stream) return [JSON.stringify({ ...head("chat.completion"), choices: [choice.whole(finishReason)] })];
    const chunks = [choice.event(delta), choice.lastEvent(finishReason)];
    const events = chunks.map((each) => this.event({ ...head("chat.completion.chunk"), choices: [each] }));
    return [...events, "data: [DONE]\n\n"];
  },

  event: (data) => `data: ${JSON.stringify(data)}\n\n`,
  error: ({ body }) => body,
};
