import { afterEach, describe, expect, test } from "@jest/globals";
import { textMessage } from "@mrlm/kit";
import type { Message } from "@mrlm/spec";
import type { ChatServerReply } from "@mrlm/testing";
import { createModelClient, modelClientOptions } from "@mrlm/model-client";
import { inspect } from "node:util";
import { z } from "zod";
import { closeAll, connect, errorOf, KEY, never, request, respond, serve } from "./support/connect.ts";

afterEach(closeAll);

describe("complete", () => {
  test("returns the message, its tokens and times", async () => {
    const server = await serve(() => "Good day.");
    const client = connect(server.baseUrl, { api_key_env: "TEST_KEY", prices: { judge: { input: 2, output: 10 } } });
    const completion = await client.complete({ ...request, maxTokens: 20, temperature: 0 }, { signal: never });
    expect(completion).toMatchObject({
      text: "Good day.",
      finishReason: "stop",
      model: "judge",
      usage: { inputTokens: 10, outputTokens: 5, isEstimated: false, cost: (10 * 2 + 5 * 10) / 1e6 },
      timing: { attempts: 1, isReplayed: false },
    });
    expect(server.requests[0]).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: `Bearer ${KEY}` },
      body: { model: "judge", max_tokens: 20, temperature: 0, messages: [{ role: "user", content: "Hello" }] },
    });
    expect(client.stats()).toMatchObject({ answers: 1, requests: 1, inputTokens: 10, outputTokens: 5 });
  });

  test("passes tools, tool results and reasoning through", async () => {
    const server = await serve(() => ({
      finishReason: "tool_calls",
      message: {
        content: null,
        reasoning_content: "The tool knows.",
        tool_calls: [
          { id: "a", type: "function", function: { name: "look", arguments: '{"at":"sky"}' } },
          { id: "b", type: "function", function: { name: "look", arguments: '{"at":' } },
        ],
      },
    }));
    const messages: Message[] = [
      textMessage("system", "Be brief."),
      { role: "user", name: "the judge", parts: [{ type: "text", text: "Look" }] },
      {
        role: "assistant",
        parts: [
          { type: "thinking", text: "hidden" },
          { type: "tool-call", id: "x", name: "look", arguments: { at: "sea" } },
        ],
      },
      {
        role: "tool",
        parts: [
          {
            type: "tool-result",
            id: "x",
            name: "look",
            isError: false,
            content: [
              { type: "text", text: "blue" },
              { type: "image", mediaType: "image/png", source: { data: new Uint8Array([1]) } },
            ],
          },
        ],
      },
    ];
    const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];
    const { message, text, finishReason } = await connect(server.baseUrl).complete(
      { messages, tools },
      { signal: never },
    );
    expect(server.requests[0]?.body).toMatchObject({
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Look", name: "the_judge" },
        { role: "assistant", content: null, tool_calls: [{ id: "x", function: { arguments: '{"at":"sea"}' } }] },
        { role: "tool", tool_call_id: "x", content: "blue" },
        { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AQ==" } }] },
      ],
      tools: [{ type: "function", function: { name: "look" } }],
    });
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain("hidden");
    expect({ text, finishReason }).toEqual({ text: "", finishReason: "tool_calls" });
    expect(message.parts).toMatchObject([
      { type: "thinking", text: "The tool knows." },
      { type: "tool-call", id: "a", name: "look", arguments: { at: "sky" } },
      { type: "malformed-call", format: "openai", error: expect.stringContaining("no JSON") },
    ]);
  });

  test.each<[string, ChatServerReply, object]>([
    ["null", { message: { content: null } }, { text: "", finishReason: "stop" }],
    ["cut", { message: { content: "half" }, finishReason: "length" }, { text: "half", finishReason: "length" }],
    ["refused", { message: { content: null, refusal: "No." } }, { text: "", refusal: "No." }],
    [
      "filtered",
      { message: { content: "" }, finishReason: "content_filter" },
      { text: "", finishReason: "content_filter" },
    ],
    ["without usage", { message: { content: "12345678" }, usage: null }, { usage: { isEstimated: true } }],
  ])("returns an answer that is %s as it is", async (_name, reply, expected) => {
    const server = await serve(() => reply);
    await expect(connect(server.baseUrl).complete(request, { signal: never })).resolves.toMatchObject(expected);
  });

  test("names the token limit and further fields as the options state", async () => {
    const server = await serve(() => "ok");
    const options = { max_tokens_field: "max_completion_tokens", extra: { reasoning_effort: "low" } };
    await connect(server.baseUrl, options).complete({ ...request, maxTokens: 9 }, { signal: never });
    expect(server.requests[0]?.body).toMatchObject({ max_completion_tokens: 9, reasoning_effort: "low" });
    expect(server.requests[0]?.body).not.toHaveProperty("max_tokens");
  });

  test("joins a streamed answer", async () => {
    const chunk = (delta: object, finish_reason: string | null = null): string =>
      `data: ${JSON.stringify({ model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const server = await serve(
      () => (response) =>
        void response
          .writeHead(200, { "content-type": "text/event-stream" })
          .end(
            chunk({ role: "assistant", content: "" }) +
              chunk({ reasoning_content: "hm" }) +
              chunk({ content: "Grü" }) +
              chunk({ content: "ße" }) +
              chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "look", arguments: "{" } }] }) +
              chunk({ tool_calls: [{ index: 0, function: { arguments: "}" } }] }) +
              chunk({}, "tool_calls") +
              `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } })}\n\n` +
              "data: [DONE]\n\n",
          ),
    );
    const completion = await connect(server.baseUrl, { stream: true }).complete(request, { signal: never });
    expect(server.requests[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    expect(completion).toMatchObject({
      text: "Grüße",
      finishReason: "tool_calls",
      usage: { inputTokens: 7, outputTokens: 3 },
    });
    expect(completion.message.parts.map(({ type }) => type)).toEqual(["thinking", "text", "tool-call"]);
  });

  test.each([
    ["without numbers, which some servers leave out", [undefined, undefined, undefined]],
    ["with numbers beyond their count", [0, 0, 4_000_000_000]],
  ])("joins the calls of a stream %s", async (_name, indices) => {
    const deltas = [
      { id: "a", function: { name: "look", arguments: "{" } },
      { function: { arguments: "}" } },
      { id: "b", function: { name: "read", arguments: "{}" } },
    ].map((call, i) => ({ delta: { tool_calls: [{ index: indices[i], ...call }] }, finish_reason: null }));
    const chunks = [...deltas, { delta: {}, finish_reason: "tool_calls" }];
    const body = chunks.map((choice) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`).join("");
    const server = await serve(
      () => (response) => void response.writeHead(200, { "content-type": "text/event-stream" }).end(body),
    );
    const { message } = await connect(server.baseUrl, { stream: true }).complete(request, { signal: never });
    expect(message.parts).toEqual([
      { type: "tool-call", id: "a", name: "look", arguments: {} },
      { type: "tool-call", id: "b", name: "read", arguments: {} },
    ]);
  });

  test("limits requests at the same time, and reports the wait apart from the time of the model", async () => {
    let active = 0;
    let most = 0;
    const server = await serve(async () => {
      most = Math.max(most, ++active);
      await new Promise((resolve) => setTimeout(resolve, 20));
      active--;
      return "ok";
    });
    const client = connect(server.baseUrl, { concurrency: 2 });
    const all = await Promise.all(Array.from({ length: 6 }, () => client.complete(request, { signal: never })));
    expect(most).toBe(2);
    expect(server.openConnections()).toBeLessThanOrEqual(2);
    expect(all[0]?.timing.queueMs).toBeLessThan(all[5]!.timing.queueMs);
    expect(all[5]!.timing.queueMs).toBeGreaterThan(20);
    expect(client.stats().queueMs).toBeGreaterThan(0);
  });

  test("a request that waits longer than its deadline is not sent, and frees its place in the queue", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const server = await serve(async (_request, index) => {
      if (index === 0) await released;
      return "ok";
    });
    const client = connect(server.baseUrl, { concurrency: 1 });
    const first = client.complete(request, { signal: never });
    await expect(client.complete(request, { signal: never, deadlineMs: 20 })).rejects.toMatchObject({
      code: "ENDPOINT_TIMEOUT",
      message: expect.stringContaining("waited 20 ms for one of 1 places"),
    });
    release();
    await first;
    await client.complete(request, { signal: never });
    expect(server.requests).toHaveLength(2);
  });
});

describe("completeJson", () => {
  const output = { name: "verdict", schema: z.strictObject({ score: z.int().min(0).max(10) }) };

  test("asks for the schema, and reads a value", async () => {
    const server = await serve(() => '```json\n{"score": 7}\n```');
    const { value, isRepaired } = await connect(server.baseUrl).completeJson(request, output, { signal: never });
    expect({ value, isRepaired }).toEqual({ value: { score: 7 }, isRepaired: false });
    expect(server.requests[0]?.body["response_format"]).toMatchObject({
      type: "json_schema",
      json_schema: { name: "verdict", strict: true, schema: { properties: { score: { maximum: 10 } } } },
    });
  });

  test("`json: text` states the schema in words", async () => {
    const server = await serve(() => '{"score": 7}');
    await connect(server.baseUrl, { json: "text" }).completeJson(request, output, { signal: never });
    expect(server.requests[0]?.body["response_format"]).toBeUndefined();
    expect(server.requests[0]?.body.messages.at(-1)?.content).toContain('"maximum":10');
  });

  test("repairs: the model reads its output and the fault", async () => {
    const server = await serve((_request, index) => (index === 0 ? '{"score": 70}' : '{"score": 7}'));
    const client = connect(server.baseUrl);
    const { value, isRepaired } = await client.completeJson(request, output, { signal: never });
    expect({ value, isRepaired }).toEqual({ value: { score: 7 }, isRepaired: true });
    const [, answer, fault] = server.requests[1]!.body.messages;
    expect(answer).toMatchObject({ role: "assistant", content: '{"score": 70}' });
    expect(fault?.content).toContain("score: Too big");
    expect(client.stats()).toMatchObject({ repairs: 1, requests: 2, failures: {} });
  });

  test.each<[string, ChatServerReply, string, number]>([
    ["prose", "I think it is 7.", "ENDPOINT_OUTPUT_INVALID", 3],
    ["HTML", "<p>7</p>", "ENDPOINT_OUTPUT_INVALID", 3],
    ["half a JSON", '{"score": ', "ENDPOINT_OUTPUT_INVALID", 3],
    ["JSON of another form", '{"points": 7}', "ENDPOINT_OUTPUT_INVALID", 3],
    ["JSON with a key twice (D16)", '{"score": 1, "score": 7}', "ENDPOINT_OUTPUT_INVALID", 3],
    [
      "JSON with a key twice, of which one is escaped (D16)",
      '{"score": 1, "\\u0073core": 7}',
      "ENDPOINT_OUTPUT_INVALID",
      3,
    ],
    ["JSON that is deep (U5)", `{"score": ${"[".repeat(200_000)}${"]".repeat(200_000)}}`, "ENDPOINT_OUTPUT_INVALID", 3],
    ["JSON with text around it", 'My verdict: {"score": 7}', "ENDPOINT_OUTPUT_INVALID", 3],
    ["null", { message: { content: null } }, "ENDPOINT_OUTPUT_EMPTY", 3],
    ["white space", " \n", "ENDPOINT_OUTPUT_EMPTY", 3],
    ["reasoning alone", { message: { content: "", reasoning: "hm" } }, "ENDPOINT_OUTPUT_EMPTY", 3],
    ["cut", { message: { content: '{"score": 7}' }, finishReason: "length" }, "ENDPOINT_OUTPUT_CUT", 3],
    ["refused", { message: { content: null, refusal: "No." } }, "ENDPOINT_OUTPUT_FILTERED", 1],
    ["filtered", { message: { content: "" }, finishReason: "content_filter" }, "ENDPOINT_OUTPUT_FILTERED", 1],
  ])("an output that is %s has a code", async (_name, reply, code, requests) => {
    const server = await serve(() => reply);
    const client = connect(server.baseUrl);
    await expect(client.completeJson(request, output, { signal: never })).rejects.toMatchObject({ code });
    expect(server.requests).toHaveLength(requests);
    expect(client.stats().failures).toEqual({ [code]: 1 });
  });

  test("the deadline holds for the answer and its repair together", async () => {
    const server = await serve((_request, index) => {
      if (index === 0) return "prose";
      return () => undefined; // no response
    });
    const work = connect(server.baseUrl).completeJson(request, output, { signal: never, deadlineMs: 800 });
    await expect(work).rejects.toMatchObject({ code: "ENDPOINT_TIMEOUT" });
    expect(server.requests).toHaveLength(2);
  });
});

describe("secrets", () => {
  const escapes = [KEY, KEY.replace("/", "\\/"), KEY.replace("s", "\\u0073")];

  test.each<[string, ChatServerReply, string]>([
    ...escapes.map((quoted): [string, ChatServerReply, string] => [
      "a refusal of the key",
      respond(401, `{"error":{"message":"Incorrect API key provided: ${quoted}"}}`),
      "ENDPOINT_KEY_INVALID",
    ]),
    ["another answer", respond(200, `<html>${KEY}</html>`), "ENDPOINT_RESPONSE_INVALID"],
    ["an answer that is no completion", respond(200, `{"key":"${KEY}"}`), "ENDPOINT_RESPONSE_INVALID"],
    ["an output that is not of the form", KEY, "ENDPOINT_OUTPUT_INVALID"],
    ["a cut output", { message: { content: KEY }, finishReason: "length" }, "ENDPOINT_OUTPUT_CUT"],
    ["a refusal", { message: { content: null, refusal: KEY } }, "ENDPOINT_OUTPUT_FILTERED"],
  ])("a key that an endpoint quotes in %s is in no error", async (_name, reply, code) => {
    const server = await serve(() => reply);
    const client = connect(server.baseUrl, { api_key_env: "TEST_KEY", max_retries: 0 });
    const output = { name: "x", schema: z.strictObject({}) };
    const error = await errorOf(client.completeJson(request, output, { signal: never }));
    expect(error.code).toBe(code);
    expect(inspect(error, { depth: 10 })).toContain("[hidden]");
    for (const shown of [inspect(error, { depth: 10 }), inspect(client)]) expect(shown).not.toContain("0123456789");
  });

  test.each([false, true])("D1: a key changes no answer and no argument (stream: %s)", async (stream) => {
    const message = {
      content: "<answer>4</answer>",
      tool_calls: [{ id: "answer", function: { name: "answer", arguments: '{"answer":"the answer"}' } }],
    };
    const server = await serve(() =>
      stream
        ? respond(
            200,
            `data: ${JSON.stringify({ choices: [{ delta: message, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`,
            { "content-type": "text/event-stream" },
          )
        : { message },
    );
    for (const key of ["answer", "a", "4", "t"]) {
      const options = modelClientOptions.parse({ base_url: server.baseUrl, model: "m", api_key_env: "K", stream });
      const client = createModelClient(options, { env: { K: key } });
      const completion = await client.complete(request, { signal: never });
      await client.close();
      expect(completion.message.parts).toEqual([
        { type: "text", text: "<answer>4</answer>" },
        { type: "tool-call", id: "answer", name: "answer", arguments: { answer: "the answer" } },
      ]);
    }
  });

  test.each([
    [{ api_key_env: "OTHER_KEY" }, "ENDPOINT_KEY_MISSING", "OTHER_KEY"],
    [{ api_key_env: "BAD_KEY" }, "ENDPOINT_KEY_INVALID", "BAD_KEY"],
  ])("%j is rejected before any request", (options, code, name) => {
    const parsed = modelClientOptions.parse({ model: "m", ...options });
    const create = (): unknown => createModelClient(parsed, { env: { BAD_KEY: "secret\nkey" } });
    expect(create).toThrow(expect.objectContaining({ code, message: expect.stringContaining(name) }));
    expect(create).not.toThrow(/secret/);
  });

  test("settings that the openai package reads from the environment are not sent", async () => {
    const names = { OPENAI_API_KEY: "sk-env", OPENAI_ORG_ID: "org-env", OPENAI_CUSTOM_HEADERS: "X-Env: header-env" };
    const before = { ...process.env };
    Object.assign(process.env, names, { OPENAI_LOG: "debug", OPENAI_ADMIN_KEY: "admin-env" });
    try {
      const server = await serve(() => "ok");
      await connect(server.baseUrl).complete(request, { signal: never });
      expect(JSON.stringify(server.requests[0])).not.toMatch(/env/);
      expect(server.requests[0]?.headers["authorization"]).toBeUndefined();
    } finally {
      process.env = before;
    }
  });

  test("the key of one endpoint is not sent to another", async () => {
    const other = await serve(() => "ok");
    const first = await serve(() => respond(404, { error: { message: "no such model" } }));
    const model = ["a", { model: "b", base_url: other.baseUrl }];
    await connect(first.baseUrl, { model, api_key_env: "TEST_KEY" }).complete(request, { signal: never });
    expect(first.requests[0]?.headers["authorization"]).toBe(`Bearer ${KEY}`);
    expect(other.requests[0]?.headers["authorization"]).toBeUndefined();
  });

  test.each([
    [{ base_url: "https://user:pass@a.test/v1" }, "user name"],
    [{ base_url: "https://a.test/v1?key=abc" }, "query"],
    [{ api_key_env: "sk-abc-123" }, "never write the key itself"],
    [{ api_key_env: "hf_abc123" }, "never write the key itself"],
    [{ budget: { cost: 1 } }, "needs the price"],
    [{ extra: { model: "other" } }, "sets this field itself"],
  ])("options %j are rejected", (options, message) => {
    const parsed = modelClientOptions.safeParse({ model: "m", ...options });
    expect(parsed.error?.message).toContain(message);
  });
});
