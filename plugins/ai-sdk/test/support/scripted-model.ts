import type { JsonObject } from "@mrlm/kit";

/** Reply of a model: a whole body, the chunks of a stream, or a Response. */
export type Reply = JsonObject | readonly JsonObject[] | Response;

/** Model as an agent program receives it: its `fetch` needs no socket. */
export interface ScriptedModel {
  readonly baseURL: string;
  readonly apiKey: string;
  readonly name: string;
  readonly fetch: typeof fetch;
  readonly requests: { readonly url: string; readonly headers: Headers; readonly body: JsonObject }[];
}

/** Returns a model that gives these replies in turn. */
export function scriptedModel(...replies: readonly Reply[]): ScriptedModel {
  const requests: ScriptedModel["requests"] = [];
  return {
    baseURL: "http://mrlm.invalid/v1",
    apiKey: "episode-key",
    name: "policy",
    requests,
    async fetch(url, init = {}) {
      const body = JSON.parse(String(init.body)) as JsonObject;
      requests.push({ url: String(url), headers: new Headers(init.headers), body });
      const reply = replies[requests.length - 1];
      if (reply === undefined) throw new Error(`There is no reply to request ${requests.length}.`);
      if (reply instanceof Response) return reply;
      if (!Array.isArray(reply)) return Response.json(reply);
      const events = [...reply.map((chunk) => JSON.stringify(chunk)), "[DONE]"];
      const text = events.map((event) => `data: ${event}\n\n`).join("");
      return new Response(text, { headers: { "content-type": "text/event-stream" } });
    },
  };
}

/** Returns a whole answer. */
export function answer(message: JsonObject, rest: { readonly choice?: JsonObject; readonly body?: JsonObject } = {}) {
  const choice = { index: 0, message: { role: "assistant", content: null, ...message }, ...rest.choice };
  const usage = { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 };
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 0,
    model: "policy",
    choices: [{ finish_reason: "tool_calls" in message ? "tool_calls" : "stop", ...choice }],
    usage,
    ...rest.body,
  };
}

/** Returns a message that calls a tool. */
export function callOf(id: string, name: string, args: JsonObject): JsonObject {
  return { tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(args) } }] };
}
