import { afterEach, describe, expect, test } from "@jest/globals";
import { Tokens } from "@mrlm/kit/access";
import { MrlmError } from "@mrlm/spec";
import OpenAI, { APIError } from "openai";
import { zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { recording, served, type Served, writing } from "./support/served.ts";

// Chat completions, Responses and Messages: one policy behind three forms.
const CHAT = "/v1/chat/completions";
const RESPONSES = "/v1/responses";
const MESSAGES = "/v1/messages";
const COUNT = "/v1/messages/count_tokens";
const WIRES = [CHAT, RESPONSES, MESSAGES];
const CALL = '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>';
const parameters = { type: "object", properties: { city: { type: "string" } } };
const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };

/** Bodies of one request on each wire. */
const plain = (model: string): Record<string, object> => ({
  [CHAT]: { model, messages: [{ role: "user", content: "Hello" }] },
  [RESPONSES]: { model, input: "Hello" },
  [MESSAGES]: { model, max_tokens: 100, messages: [{ role: "user", content: "Hello" }] },
});

/** Members that ask for an object of a schema on each wire. */
const form: Record<string, object> = {
  [CHAT]: { response_format: { type: "json_schema", json_schema: { name: "answer", schema } } },
  [RESPONSES]: { text: { format: { type: "json_schema", name: "answer", schema } } },
  [MESSAGES]: { output_config: { format: { type: "json_schema", schema } } },
};

let server: Served;
afterEach(() => server.close());

/** Sends a streamed request. Returns the data of its events. */
async function streamed(path: string, body: object): Promise<any[]> {
  const response = await fetch(server.url + path, { method: "POST", body: JSON.stringify({ ...body, stream: true }) });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  const parts = (await response.text()).split("\n\n").filter((part) => part !== "" && part !== "data: [DONE]");
  return parts.map((part) => {
    const [, name, data = ""] = /^(?:event: ([\w.]+)\n)?data: (.*)$/s.exec(part) ?? [];
    const event = JSON.parse(data);
    if (path !== CHAT) expect(event.type).toBe(name);
    return event;
  });
}

describe("one request over three wires", () => {
  test("gives the same prompt, whose length is the usage and the count", async () => {
    const prompts: number[][] = [];
    server = await served({
      policies: [recording(writing("policy", "Fine."), ({ prompt }) => prompts.push([...prompt]))],
    });
    const call = { name: "weather", arguments: '{"city":"Rome"}' };
    const messages = [
      { role: "user", content: "Go" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm." },
          { type: "text", text: "I look." },
          { type: "tool_use", id: "A", name: "weather", input: { city: "Rome" } },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "A", content: "20 degrees" }] },
    ];
    const bodies: Record<string, object> = {
      [CHAT]: {
        messages: [
          { role: "system", content: "Help." },
          { role: "user", content: "Go" },
          {
            ...{ role: "assistant", reasoning_content: "Hm.", content: "I look." },
            tool_calls: [{ id: "A", type: "function", function: call }],
          },
          { role: "tool", tool_call_id: "A", content: "20 degrees" },
        ],
        tools: [{ type: "function", function: { name: "weather", description: "Weather.", parameters } }],
        tool_choice: "required",
      },
      [RESPONSES]: {
        instructions: "Help.",
        input: [
          { role: "user", content: "Go" },
          { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
          { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
          { type: "function_call", call_id: "A", ...call },
          { type: "function_call_output", call_id: "A", output: "20 degrees" },
        ],
        tools: [{ type: "function", name: "weather", description: "Weather.", parameters }],
        tool_choice: "required",
      },
      [MESSAGES]: {
        ...{ system: "Help.", messages, max_tokens: 100 },
        tools: [{ name: "weather", description: "Weather.", input_schema: parameters }],
        tool_choice: { type: "any" },
      },
    };
    for (const path of WIRES) {
      const body = { model: "policy", ...bodies[path], ...form[path] };
      const { status, body: answer } = await server.post(path, body);
      expect(status).toBe(200);
      expect(answer.usage.input_tokens ?? answer.usage.prompt_tokens).toBe(prompts[0]?.length);
      expect(answer.usage.output_tokens ?? answer.usage.completion_tokens).toBe(6);
      await streamed(path, body);
    }
    expect(prompts).toHaveLength(6);
    for (const prompt of prompts) expect(prompt).toEqual(prompts[0]);
    const { max_tokens: _, ...counted } = { max_tokens: 0, ...bodies[MESSAGES], ...form[MESSAGES] };
    const count = await server.post(COUNT, { model: "policy", ...counted });
    expect([count.status, count.body]).toEqual([200, { input_tokens: prompts[0]?.length }]);
    expect(server.server.metrics()).toMatchObject({ prompt_tokens: 6 * (prompts[0]?.length ?? 0), schema_failed: 6 });
  });

  test("gives the sampler the same parameters", async () => {
    const sampled: unknown[] = [];
    server = await served({
      policies: [recording(writing("policy", "Fine."), ({ params, key }) => sampled.push({ ...params, key }))],
    });
    const sampling = { seed: 3, temperature: 0.5, top_p: 0.9, top_k: 7, min_tokens: 2, stop_token_ids: [5] };
    const limit: Record<string, object> = { [CHAT]: { max_completion_tokens: 9 }, [MESSAGES]: { max_tokens: 9 } };
    for (const path of WIRES) {
      const body = { ...plain("policy")[path], ...sampling, ...(limit[path] ?? { max_output_tokens: 9 }) };
      expect((await server.post(path, body)).status).toBe(200);
    }
    expect(sampled[0]).toMatchObject({ temperature: 0.5, topP: 0.9, topK: 7, minTokens: 2, maxTokens: 9 });
    expect(sampled).toEqual(Array(3).fill(sampled[0]));
  });

  test.each(WIRES)("sends the parts of an answer as they are sampled: %s", async (path) => {
    const read = Promise.withResolvers<void>();
    let sampled = 0;
    // The policy stops before its last tokens until the client has read the first part.
    const pause = async (): Promise<void> => void (++sampled === 6 && (await read.promise));
    server = await served({ policies: [writing("policy", "Good day", { pause })] });
    const body = JSON.stringify({ ...plain("policy")[path], stream: true });
    const response = await fetch(server.url + path, { method: "POST", body });
    let text = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (/"(delta|content|text)":"oo?"/.test(text)) read.resolve();
    }
    expect(text).toMatch(/stop|completed/);
  });

  test("marks an answer without the form, whole and streamed", async () => {
    server = await served({ policies: [writing("good", '{"a":1}'), writing("bad", '```json\n{"a":1}\n```')] });
    const object: Record<string, object> = {
      [CHAT]: { response_format: { type: "json_object" } },
      [RESPONSES]: { text: { format: { type: "json_object" } } },
    };
    const of = async (model: string, path: string, asked: object | undefined): Promise<unknown[]> => {
      const body = { ...plain(model)[path], ...asked };
      const { body: whole } = await server.post(path, body);
      const last = (await streamed(path, body)).findLast(({ type }) => type !== "message_stop");
      const members = [whole.choices?.[0] ?? whole, last.choices?.[0] ?? last.response ?? last.delta];
      return members.map(({ schema_failed: failed }) => failed);
    };
    for (const path of WIRES)
      for (const asked of [form[path], object[path] ?? form[path]]) {
        expect(await of("good", path, asked)).toEqual([undefined, undefined]);
        expect(await of("bad", path, asked)).toEqual([true, true]);
        expect(await of("bad", path, {})).toEqual([undefined, undefined]);
      }
    expect(server.server.metrics()).toMatchObject({ schema_failed: 12 });
  });

  test("ends at a limit and at a stop sequence in the words of each API", async () => {
    server = await served({ policies: [writing("policy", "One END two")] });
    const of = async (path: string, more: object): Promise<any> =>
      (await server.post(path, { ...plain("policy")[path], ...more })).body;
    expect(await of(MESSAGES, { stop_sequences: ["two", "END"] })).toMatchObject({
      ...{ stop_reason: "stop_sequence", stop_sequence: "END", content: [{ type: "text", text: "One " }] },
      usage: { output_tokens: 4 },
    });
    expect(await of(MESSAGES, { max_tokens: 3 })).toMatchObject({ stop_reason: "max_tokens", stop_sequence: null });
    const cut = await of(RESPONSES, { max_output_tokens: 3 });
    expect(cut).toMatchObject({
      ...{ status: "incomplete", incomplete_details: { reason: "max_output_tokens" }, max_output_tokens: 3 },
      output: [{ type: "message", content: [{ type: "output_text", text: "One" }] }],
    });
    const events = await streamed(MESSAGES, { ...plain("policy")[MESSAGES], stop_sequences: ["END"] });
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "stop_sequence", stop_sequence: "END" } });
  });
});

describe("a request is refused in the form of its API", () => {
  const anthropic = (type: string, code: string) => ({
    type: "error",
    error: { type, code, message: expect.any(String) },
  });
  const openai = (type: string, param: string | null, code: string) => ({
    error: { type, param, code, message: expect.any(String) },
  });

  test("with what is wrong", async () => {
    server = await served({ policies: [writing("policy", "Fine.", { positions: 100 })], tokens: Tokens.of("secret") });
    const of = async (path: string, more: object, key = "secret"): Promise<[number, unknown]> => {
      const { status, body } = await server.post(path, { ...plain("policy")[path], ...more }, { "x-api-key": key });
      return [status, body];
    };
    const long = "x".repeat(5_000);
    const invalid = "invalid_request_error";
    expect(await of(MESSAGES, {}, "wrong")).toEqual([401, anthropic("authentication_error", "UNAUTHENTICATED")]);
    expect(await of(MESSAGES, { model: "other" })).toEqual([404, anthropic("not_found_error", "model_not_found")]);
    expect(await of(MESSAGES, { container: "c" })).toEqual([400, anthropic(invalid, "unsupported_parameter")]);
    expect(await of(MESSAGES, { n: 2 })).toEqual([400, anthropic(invalid, "unsupported_parameter")]);
    expect(await of(MESSAGES, { messages: [{ role: "user", content: long }] })).toEqual([
      400,
      anthropic(invalid, "context_length_exceeded"),
    ]);
    expect(await of(`${MESSAGES}/batches`, {})).toEqual([404, anthropic("not_found_error", "not_found")]);
    expect(await of(COUNT, { model: "policy" })).toEqual([400, anthropic(invalid, "missing_required_parameter")]);
    expect(await of(RESPONSES, {}, "wrong")).toEqual([401, openai("authentication_error", null, "UNAUTHENTICATED")]);
    expect(await of(RESPONSES, { previous_response_id: "r" })).toEqual([
      400,
      openai(invalid, "previous_response_id", "unsupported_parameter"),
    ]);
    expect(await of(RESPONSES, { input: long })).toEqual([400, openai(invalid, "input", "context_length_exceeded")]);
    expect(await of(RESPONSES, { messages: [] })).toEqual([400, openai(invalid, "messages", "unsupported_parameter")]);
    const lost = await fetch(`${server.url}${RESPONSES}/resp_1`, { headers: { authorization: "Bearer secret" } });
    expect(lost.status).toBe(404);
  });

  test("as an event of a stream that has begun", async () => {
    let sampled = 0;
    const pause = async (): Promise<void> => {
      if (++sampled === 4) throw new MrlmError("ENGINE_UNAVAILABLE", "The engine is gone.");
    };
    server = await served({ policies: [writing("policy", "Good day", { pause })] });
    const lastOf = async (path: string): Promise<unknown> => {
      sampled = 0;
      const body = JSON.stringify({ ...plain("policy")[path], stream: true });
      const text = await (await fetch(server.url + path, { method: "POST", body })).text();
      const [, data = ""] = /(?:event: error\n)?data: ([^\n]*)\n\n$/.exec(text) ?? [];
      return JSON.parse(data);
    };
    expect(await lastOf(MESSAGES)).toEqual(anthropic("overloaded_error", "ENGINE_UNAVAILABLE"));
    expect(await lastOf(RESPONSES)).toEqual(openai("server_error", null, "ENGINE_UNAVAILABLE"));
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "any", maxRetries: 0 });
    sampled = 0;
    await expect(client.responses.stream({ model: "policy", input: "Go" }).finalResponse()).rejects.toMatchObject({
      code: "ENGINE_UNAVAILABLE",
    });
  });

  test("models are listed in both forms", async () => {
    server = await served({ tokens: Tokens.of("secret") });
    const of = async (path: string, headers: Record<string, string>): Promise<any> =>
      await (await fetch(server.url + path, { headers })).json();
    const model = {
      ...{ id: "bigram", object: "model", owned_by: "mrlm", created: expect.any(Number), max_model_len: 4_096 },
      ...{ type: "model", display_name: "bigram", created_at: expect.stringMatching(/^\d{4}-.*Z$/) },
    };
    expect(await of("/v1/models", { authorization: "Bearer secret" })).toEqual({
      ...{ object: "list", data: [model], has_more: false, first_id: "bigram", last_id: "bigram" },
    });
    const version = { "anthropic-version": "2023-06-01" };
    expect(await of("/v1/models/bigram", { "x-api-key": "secret", ...version })).toEqual(model);
    expect(await of("/v1/models", version)).toEqual(anthropic("authentication_error", "UNAUTHENTICATED"));
    const completion = { model: "bigram", prompt: "Hi", max_tokens: 1, stream: true };
    const key = { "x-api-key": "secret", ...version };
    expect((await server.post("/v1/completions", completion, key)).body).toMatch(/^data: .*\n\ndata: \[DONE\]\n\n$/s);
  });
});

describe("the official package for JavaScript, by Responses", () => {
  const text = `<think>\nShort thought. </think>\n\nI look.\n${CALL}`;
  const tool = { type: "function" as const, name: "weather", description: "Weather.", parameters, strict: false };
  const clientOf = async (): Promise<OpenAI> => {
    const answer = (prompt: string): string => (prompt.includes("20 degrees") ? "It is warm." : text);
    server = await served({
      policies: [writing("policy", answer), writing("json", '{"a":1}')],
      tokens: Tokens.of("secret"),
    });
    return new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "secret", maxRetries: 0 });
  };

  test.each([false, true])("calls a tool and sends its result (streamed: %s)", async (isStreamed) => {
    const client = await clientOf();
    const respond = async (input: OpenAI.Responses.ResponseInput): Promise<OpenAI.Responses.Response> => {
      const body = { model: "policy", input, tools: [tool], instructions: "Help." };
      if (!isStreamed) return await client.responses.create(body);
      return (await client.responses.stream(body).finalResponse()) as OpenAI.Responses.Response;
    };
    const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Go" }];
    const first = await respond(input);
    expect(first.output).toMatchObject([
      { type: "reasoning", content: [{ type: "reasoning_text", text: "Short thought." }] },
      { type: "message", content: [{ type: "output_text", text: "I look." }] },
      { type: "function_call", name: "weather", arguments: '{"city":"Rome"}', call_id: expect.any(String) },
    ]);
    expect([first.status, first.output_text]).toEqual(["completed", "I look."]);
    const { call_id } = first.output[2] as OpenAI.Responses.ResponseFunctionToolCall;
    const result = { type: "function_call_output" as const, call_id, output: "20 degrees" };
    const second = await respond([...input, ...(first.output as OpenAI.Responses.ResponseInputItem[]), result]);
    expect(second.output_text).toBe("It is warm.");
    expect(second.usage?.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? Infinity);
    expect(second.usage?.total_tokens).toBe((second.usage?.input_tokens ?? 0) + 12);
  });

  test("parses a schema, reads a part of a stream, and raises the errors of the server", async () => {
    const client = await clientOf();
    const format = zodTextFormat(z.object({ a: z.number() }), "answer");
    const parsed = await client.responses.parse({ model: "json", input: "Go", text: { format } });
    expect(parsed.output_parsed).toEqual({ a: 1 });
    for await (const event of await client.responses.create({ model: "json", input: "Go", stream: true }))
      if (event.type === "response.output_text.delta") break;
    const failed = await client.responses.create({ model: "other", input: "Go" }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(APIError);
    expect(failed).toMatchObject({ status: 404, code: "model_not_found" });
    const anonymous = client.withOptions({ apiKey: "wrong" }).responses.create({ model: "json", input: "Go" });
    await expect(anonymous).rejects.toMatchObject({ status: 401, type: "authentication_error" });
  });
});
