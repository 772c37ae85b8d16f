import { afterEach, describe, expect, test } from "@jest/globals";
import { definePlugin, textMessage } from "@mrlm/kit";
import { agentEnvironment } from "@mrlm/kit/agent";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import type { Observation } from "@mrlm/spec";
import { served, type Served, writing } from "./support/served.ts";

// A program that trains in an episode is served by the same policy.
const CHAT = "/v1/chat/completions";
const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"], additionalProperties: false };
const format = { type: "json_schema", json_schema: { name: "answer", schema, strict: true } };
const tool = (name: string) => ({ type: "function", function: { name, parameters: { type: "object" }, strict: true } });
const named = { type: "function", function: { name: "look" } };
const messages = [
  { role: "system", content: "Help." },
  { role: "user", content: "Hello" },
];
const looked = [
  ...messages,
  { role: "assistant", tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }] },
  { role: "tool", tool_call_id: "c1", content: "a cat" },
];
const tools = [tool("look"), tool("go")];
const signal = new AbortController().signal;

let server: Served;
afterEach(() => server.close());

/** Sends a body as a program of an episode. Returns the status of its response, and the observation. */
async function inEpisode(body: object): Promise<{ readonly status: number; readonly observation?: Observation }> {
  let status = 0;
  const environment = agentEnvironment<unknown>({
    id: "program@1",
    description: "One call.",
    tasks: () => ({
      splits: { train: 1, eval: 0 },
      get: async () => ({ id: "train/0", public: {}, private: {} }),
    }),
    async run({ model }) {
      const headers = { authorization: `Bearer ${model.apiKey}` };
      const url = `${model.baseURL}/chat/completions`;
      const response = await model.fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
      ({ status } = response);
      await response.text();
    },
    score: () => 1,
  });
  const source = await PluginHost.of([definePlugin({ name: "test", environments: [environment] })]);
  const host = new LocalHost({ source });
  const session = await host.open({ id: "program" });
  try {
    const observation = await session.reset({ task: "train/0", seed: 1, signal });
    await session.step({ agent: "agent", message: textMessage("assistant", "x"), finishReason: "stop" }, { signal });
    return { status, observation };
  } catch {
    return { status };
  } finally {
    await host.close();
  }
}

describe("the policy server and an episode", () => {
  test.each<[string, object]>([
    ["a required tool", { tools, tool_choice: "required" }],
    ["a named tool", { tools, tool_choice: named }],
    ["no tool", { tools, tool_choice: "none" }],
    ["a schema", { response_format: format }],
    ["a schema after the result of a tool", { messages: looked, tools, response_format: format }],
    ["an object", { response_format: { type: "json_object" } }],
    ["plain text", { response_format: { type: "text" } }],
    ["all of these", { messages: looked, tools, tool_choice: named, response_format: format }],
    ["fields of clients", { metadata: { a: "1" }, store: true, parallel_tool_calls: false, reasoning_effort: "low" }],
    ["more fields", { service_tier: "flex", prompt_cache_key: "k", safety_identifier: "s", verbosity: "low" }],
    ["more tokens than there is room", { max_tokens: 1_000_000 }],
  ])("show the policy the same prompt for %s", async (_name, change) => {
    server = await served({ policies: [writing("agent", '{"a":1}')] });
    const body = { model: "agent", messages, ...change };
    const { status, observation } = await inEpisode(body);
    const answer = await server.post(CHAT, { ...body, return_token_ids: true });
    expect([status, answer.status]).toEqual([200, 200]);
    const { messages: shown = [], tools: offered = [] } = observation ?? {};
    expect(answer.body.prompt_token_ids).toEqual([...server.renderer.render(shown, offered).tokens]);
    expect(answer.body.choices[0].message.content).toBe('{"a":1}');
  });

  test.each<[string, object]>([
    ["frequency_penalty", { frequency_penalty: 0.5 }],
    ["presence_penalty", { presence_penalty: 0.5 }],
    ["repetition_penalty", { repetition_penalty: 1.1 }],
    ["min_p", { min_p: 0.1 }],
    ["logit_bias", { logit_bias: { 5: 1 } }],
    ["top_logprobs", { logprobs: true, top_logprobs: 2 }],
    ["guided_json", { guided_json: schema }],
    ["temperature", { temperature: "hot" }],
    ["top_p", { top_p: 2 }],
  ])("refuse %s", async (param, change) => {
    server = await served({ policies: [writing("agent", "x")] });
    const body = { model: "agent", messages, ...change };
    const answer = await server.post(CHAT, body);
    expect([(await inEpisode(body)).status, answer.status, answer.body.error.param]).toEqual([400, 400, param]);
  });

  test("send an answer without the form as it is, and count it", async () => {
    server = await served({ policies: [writing("good", '{"a":1}'), writing("bad", '{"b":1}')] });
    const of = (model: string, more: object = {}) =>
      server.post(CHAT, { model, messages, response_format: format, ...more });
    expect((await of("good")).body.choices[0].message.content).toBe('{"a":1}');
    expect(server.server.metrics()).toMatchObject({ schema_failed: 0 });
    expect((await of("bad", { n: 2 })).body.choices[1].message.content).toBe('{"b":1}');
    expect((await of("bad", { stream: true })).status).toBe(200);
    expect(server.server.metrics()).toMatchObject({ schema_failed: 3 });
  });
});
