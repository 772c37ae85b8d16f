import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { get } from "node:https";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { ServerTls, Tokens } from "@mrlm/kit/access";
import type { Sampler } from "@mrlm/spec/host";
import { BigramEngine, createAuthority } from "@mrlm/testing";
import { events, served, type Served, writing } from "./support/served.ts";

const CHAT = "/v1/chat/completions";
const COMPLETIONS = "/v1/completions";
const messages = [{ role: "user", content: "Hello" }];
const chat = { model: "bigram", messages, max_tokens: 4 };

let server: Served;
afterEach(() => server.close());

const calling = (text: string): object => ({
  messages: [{ role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: text } }] }],
});

describe("a request is refused in OpenAI's form", () => {
  const invalid = (param: string | null, code = "invalid_value") => ({
    error: { message: expect.any(String), type: "invalid_request_error", param, code },
  });

  test.each<[string, object, ReturnType<typeof invalid>]>([
    ["an unknown parameter", { guided_json: {} }, invalid("guided_json", "unsupported_parameter")],
    ["a known one without support", { frequency_penalty: 0.5 }, invalid("frequency_penalty", "unsupported_parameter")],
    ["a value without support", { logit_bias: { 5: 1 } }, invalid("logit_bias", "unsupported_parameter")],
    ["a nested one", { stream: true, stream_options: { x: 1 } }, invalid("stream_options.x", "unsupported_parameter")],
    ["a tool without a name", { tool_choice: { type: "function" } }, invalid("tool_choice", "unsupported_parameter")],
    ["an unknown form", { response_format: { type: "xml" } }, invalid("response_format.type")],
    ["top_logprobs", { logprobs: true, top_logprobs: 3 }, invalid("top_logprobs", "unsupported_parameter")],
    [
      "a picture",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: {} }] }] },
      invalid("messages.0.content.0", "unsupported_parameter"),
    ],
    ["no messages", { messages: null }, invalid("messages", "missing_required_parameter")],
    ["an empty conversation", { messages: [] }, invalid("messages")],
    ["a wrong role", { messages: [{ role: "robot", content: "x" }] }, invalid("messages.0.role")],
    ["a result without its call", { messages: [{ role: "tool", content: "x" }] }, invalid("messages.0.tool_call_id")],
    ["arguments that are not JSON", calling("{"), invalid("messages.0.tool_calls.0.function.arguments")],
    [
      "arguments that are deep (U5)",
      calling(`{"x":${"[".repeat(2_000)}${"]".repeat(2_000)}}`),
      invalid("messages.0.tool_calls.0.function.arguments"),
    ],
    ["a wrong type", { temperature: "hot" }, invalid("temperature")],
    ["a wrong range", { top_p: 1.5 }, invalid("top_p")],
    ["a number beyond the wire's", { top_k: 2 ** 31 }, invalid("top_k")],
    ["a token beyond the wire's", { stop_token_ids: [2 ** 32 + 1] }, invalid("stop_token_ids.0")],
    ["no tokens", { max_tokens: 0 }, invalid("max_tokens")],
    ["an empty stop string", { stop: "" }, invalid("stop")],
    ["options of a stream without one", { stream_options: { include_usage: true } }, invalid("stream_options")],
    ["text without tokens", { messages: [{ role: "user", content: "ก" }] }, invalid("messages")],
    [
      "a long prompt",
      { messages: [{ role: "user", content: "x".repeat(5_000) }] },
      invalid("messages", "context_length_exceeded"),
    ],
  ])("%s", async (_name, change, expected) => {
    server = await served();
    const answer = await server.post(CHAT, { ...chat, ...change });
    expect([answer.status, answer.body]).toEqual([400, expected]);
  });

  test("tools that the template does not show", async () => {
    server = await served({ tags: [] });
    const tools = [{ type: "function", function: { name: "sort", parameters: { type: "object" } } }];
    const answer = await server.post(CHAT, { ...chat, tools });
    expect([answer.status, answer.body]).toEqual([400, invalid("tools")]);
    expect(answer.body.error.message).toMatch(/^The model's chat template does not show .*: sort\./);
  });

  test("other routes, models, methods and bodies", async () => {
    server = await served();
    const of = async (path: string, body: unknown): Promise<[number, string]> => {
      const answer = await server.post(path, body);
      return [answer.status, answer.body.error.code];
    };
    expect(await of(CHAT, { ...chat, model: "other" })).toEqual([404, "model_not_found"]);
    expect(await of("/v1/embeddings", chat)).toEqual([404, "not_found"]);
    expect(await of("/v1/models", chat)).toEqual([405, "method_not_allowed"]);
    expect(await of(CHAT, "{")).toEqual([400, "MESSAGE_INVALID"]);
    expect(await of(CHAT, "[]")).toEqual([400, "invalid_value"]);
    expect(await of(CHAT, `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`)).toEqual([400, "MESSAGE_INVALID"]);
    expect(await of(CHAT, { ...chat, messages: [{ role: "user", content: "x".repeat(9_000_000) }] })).toEqual([
      413,
      "MESSAGE_INVALID",
    ]);
    expect(await of(COMPLETIONS, { model: "bigram", prompt: [1, 10 ** 6] })).toEqual([400, "invalid_value"]);
    expect(await of(COMPLETIONS, { model: "bigram", prompt: "" })).toEqual([400, "invalid_value"]);
    expect(await of(COMPLETIONS, { model: "bigram", prompt: "a", logprobs: 5 })).toEqual([
      400,
      "unsupported_parameter",
    ]);
    expect(await of(COMPLETIONS, { model: "bigram", prompt: "a", best_of: 3 })).toEqual([400, "unsupported_parameter"]);
    expect(
      (await server.post(CHAT, { ...chat, best_of: 1, logit_bias: {}, presence_penalty: 0, seed: null })).status,
    ).toBe(200);
    expect(server.server.metrics()).toMatchObject({ requests: 12, failures: 11, disconnects: 0, running_sequences: 0 });
  });

  test("without the token, but not /health", async () => {
    server = await served({ tokens: Tokens.of("secret") });
    for (const authorization of ["", "Bearer wrong"]) {
      const answer = await server.post(CHAT, chat, { authorization });
      expect([answer.status, answer.body.error.type, answer.headers.get("www-authenticate")]).toEqual([
        401,
        "authentication_error",
        "Bearer",
      ]);
    }
    expect((await server.post(CHAT, chat, { authorization: "Bearer secret" })).status).toBe(200);
    expect(await (await fetch(`${server.url}/health`)).json()).toEqual({ status: "healthy" });
  });

  test("without TLS, if the server has a certificate", async () => {
    const authority = createAuthority();
    server = await served({ tls: new ServerTls(authority.issue()) });
    await expect(fetch(`${server.url}/health`)).rejects.toThrow("fetch failed");
    const sent = get(`${server.url.replace("http:", "https:")}/health`, { ca: authority.cert, agent: false });
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    expect(await json(response)).toEqual({ status: "healthy" });
  });

  test("beyond the queue, with the time of the next attempt", async () => {
    const gate = Promise.withResolvers<void>();
    server = await served({
      policies: [writing("slow", "ab", { pause: () => gate.promise })],
      maxRunning: 2,
      maxQueued: 2,
    });
    const request = { model: "slow", messages };
    const running = [1, 2, 3, 4].map(() => server.post(CHAT, request));
    while (server.server.metrics().queued_sequences < 2) await sleep(1);
    expect(server.server.metrics()).toMatchObject({ running_sequences: 2, queued_sequences: 2 });
    const refused = await server.post(CHAT, request);
    expect([refused.status, refused.body.error, refused.headers.get("retry-after")]).toMatchObject([
      429,
      { type: "rate_limit_error", code: "rate_limit_exceeded" },
      "1",
    ]);
    expect((await server.post(CHAT, { ...request, n: 5 })).status).toBe(400);
    gate.resolve();
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await server.post(CHAT, request)).status).toBe(200);
  });
});

test("a model without a limit of positions receives a number of tokens that the wire can hold", async () => {
  const source = writing("endless", "Hello");
  const maxTokens: number[] = [];
  const sampler = await source.engine.sampler("endless");
  const sample: Sampler["sample"] = async (request, options) => {
    maxTokens.push(request.params.maxTokens);
    return await sampler.sample(request, options);
  };
  const engine = { ...source.engine, sampler: async () => ({ ...sampler, sample }) };
  server = await served({ policies: [{ ...source, engine, maxPositions: Number.POSITIVE_INFINITY }] });
  for (const max_tokens of [2 ** 40, undefined])
    expect((await server.post(CHAT, { model: "endless", messages, max_tokens })).status).toBe(200);
  expect((await server.post(COMPLETIONS, { model: "endless", prompt: "Hi", max_tokens: 2 ** 40 })).status).toBe(200);
  expect(maxTokens).toEqual([2 ** 31 - 1, 2 ** 31 - 1, 2 ** 31 - 1]);
});

describe("a completion is refused", () => {
  const completion = { model: "bigram", prompt: "Hello", max_tokens: 4 };

  test.each<[string, object, object]>([
    ["too many tokens", { max_tokens: 5_000 }, { param: "prompt", code: "context_length_exceeded" }],
    [
      "more sequences than the server takes, before they are encoded",
      { prompt: Array<string>(20_000).fill("ก"), n: 128 },
      { param: "prompt", code: "invalid_value", message: expect.stringContaining("2560000") },
    ],
  ])("%s", async (_name, change, error) => {
    server = await served();
    const answer = await server.post(COMPLETIONS, { ...completion, ...change });
    expect([answer.status, answer.body]).toMatchObject([400, { error }]);
  });

  test("where log-probabilities of prompts fill the queue", async () => {
    const engine = new BigramEngine({ deterministic: false });
    const gate = Promise.withResolvers<void>();
    const forward = engine.forward.bind(engine);
    engine.forward = async (request) => {
      await gate.promise;
      return await forward(request);
    };
    server = await served({ engine, maxRunning: 1, maxQueued: 1 });
    const echo = { ...completion, echo: true, logprobs: 0, max_tokens: 0 };
    const running = [server.post(COMPLETIONS, echo), server.post(COMPLETIONS, echo)];
    while (server.server.metrics().queued_sequences === 0 && server.server.metrics().requests < 2) await sleep(1);
    await sleep(10);
    const third = server.post(COMPLETIONS, echo);
    const refused = await Promise.race([third, sleep(500, undefined)]);
    gate.resolve();
    await third;
    expect(refused?.status).toBe(429);
    expect((await Promise.all(running)).map(({ status }) => status)).toEqual([200, 200]);
    expect(server.server.metrics()).toMatchObject({ running_sequences: 0, queued_sequences: 0 });
  });
});

describe("a completion", () => {
  test("takes texts and token ids, and returns ids, log-probabilities and the echo of the prompt", async () => {
    const engine = new BigramEngine({ deterministic: false });
    server = await served({ engine });
    const { tokenizer } = server.renderer;
    const ids = [...tokenizer.encode("Hello")];
    const request = {
      model: "bigram",
      max_tokens: 6,
      seed: 3,
      logprobs: 0,
      return_token_ids: true,
      echo: true,
      ignore_eos: true,
      temperature: 0.7,
    };
    const { body } = await server.post(COMPLETIONS, { ...request, prompt: ["Hello", "Hi"], n: 2 });
    expect(body.choices.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2, 3]);
    const [choice] = body.choices;
    expect(choice).toMatchObject({
      finish_reason: "length",
      prompt_token_ids: ids,
      weight_versions: [{ version: 0, start: 0, end: 6 }],
    });
    expect(choice.text.startsWith("Hello")).toBe(true);
    expect(choice.logprobs.tokens).toHaveLength(11);
    expect(choice.logprobs.text_offset.slice(0, 6)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(choice.logprobs.token_logprobs[0]).toBeNull();
    // The same log-probabilities as those of the engine's forward pass over prompt and answer.
    const all = Int32Array.from([...ids, ...choice.token_ids]);
    const mask = Uint8Array.from(all, (_, i) => Number(i > 0));
    const [outputs] = await engine.forward({
      model: "policy",
      units: [{ sequences: [{ tokens: all, mask }] }],
      outputs: { logprob: true },
      temperature: 0.7,
    });
    choice.logprobs.token_logprobs
      .slice(1)
      .forEach((value: number, i: number) => expect(value).toBeCloseTo(outputs?.logprob?.[i] as number, 5));
    const same = await server.post(COMPLETIONS, { ...request, prompt: ids });
    expect(same.body.choices[0]).toEqual(choice);
    const scored = await server.post(COMPLETIONS, {
      model: "bigram",
      prompt: [ids, [...ids, 40]],
      echo: true,
      max_tokens: 0,
      logprobs: 1,
      temperature: 0.7,
    });
    expect(scored.body.choices.map(({ text }: { text: string }) => text)).toEqual([
      "Hello",
      "Hello" + tokenizer.decode(Int32Array.of(40)),
    ]);
    expect(scored.body.choices[0].logprobs.token_logprobs).toEqual(choice.logprobs.token_logprobs.slice(0, 5));
    expect(scored.body.usage).toEqual({ prompt_tokens: 11, completion_tokens: 0, total_tokens: 11 });
    const streamed = await events(server.url, COMPLETIONS, {
      ...request,
      prompt: ids,
      stream_options: { include_usage: true },
    });
    expect(streamed.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 6 } });
    const parts = streamed.slice(0, -1).map(({ choices: [each] }) => each);
    expect(parts.map(({ text }) => text).join("")).toBe(choice.text);
    expect(parts.flatMap(({ token_ids: some }) => some)).toEqual(choice.token_ids);
    expect(parts.flatMap(({ logprobs }) => logprobs.token_logprobs)).toEqual(choice.logprobs.token_logprobs);
    expect(parts.flatMap(({ logprobs }) => logprobs.text_offset)).toEqual(choice.logprobs.text_offset);
  });

  test("ends at own stop tokens, and not before its shortest length", async () => {
    server = await served();
    const request = { model: "bigram", prompt: "a", temperature: 0, max_tokens: 30, return_token_ids: true };
    const free = (await server.post(COMPLETIONS, request)).body.choices[0];
    const stop = free.token_ids[3];
    const at = free.token_ids.indexOf(stop);
    const stopped = (await server.post(COMPLETIONS, { ...request, stop_token_ids: [stop] })).body.choices[0];
    expect([stopped.finish_reason, stopped.token_ids]).toEqual(["stop", free.token_ids.slice(0, at + 1)]);
    expect(stopped.text.length).toBeLessThan(free.text.length);
    const long = (await server.post(COMPLETIONS, { ...request, stop_token_ids: [stop], min_tokens: 20 })).body
      .choices[0];
    expect(long.token_ids.length).toBeGreaterThanOrEqual(20);
  });
});

describe("weights and clients", () => {
  test("a publication in mid-sequence: the answer states the version of each token, the fingerprint the last one", async () => {
    const engine = new BigramEngine({ deterministic: false });
    const request = { ...chat, max_tokens: 200, ignore_eos: true, return_token_ids: true };
    let drawn = 0;
    const samplerOf = engine.sampler.bind(engine);
    engine.sampler = async (model) => {
      const sampler = await samplerOf(model);
      const sample: Sampler["sample"] = (each, options) =>
        sampler.sample(each, { ...options, onTokens: () => void (++drawn === 50 && engine.publish("policy")) });
      return { sample, barrier: () => undefined, close: () => sampler.close() };
    };
    server = await served({ engine });
    const { body } = await server.post(CHAT, request);
    const [first, second] = body.choices[0].weight_versions;
    expect([first, second]).toMatchObject([
      { version: 0, start: 0 },
      { version: 1, end: 200 },
    ]);
    expect(first.end).toBe(second.start);
    expect(body.system_fingerprint).toBe("weights-1");
  });

  test("a client that disconnects ends its sequences, running and waiting", async () => {
    server = await served({
      policies: [writing("slow", "ab".repeat(2_000), { pause: () => sleep(1) })],
      maxRunning: 2,
    });
    const client = httpRequest(server.url + CHAT, { method: "POST" });
    client.end(JSON.stringify({ model: "slow", messages, stream: true, n: 4 }));
    const [response] = await once(client, "response");
    await once(response, "data");
    expect(server.server.metrics()).toMatchObject({ running_sequences: 2, queued_sequences: 2 });
    client.on("error", () => undefined);
    client.destroy();
    while (server.server.metrics().running_sequences > 0) await sleep(1);
    expect(server.server.metrics()).toMatchObject({ queued_sequences: 0, disconnects: 1, failures: 0 });
  });

  test("an ending server finishes responses, refuses requests, and cancels what takes too long", async () => {
    const gate = Promise.withResolvers<void>();
    const policies = [
      writing("short", "ab", { pause: () => gate.promise }),
      writing("long", "ab".repeat(2_000), { pause: () => sleep(5) }),
    ];
    server = await served({ policies, maxRunning: 3 });
    const short = server.post(CHAT, { model: "short", messages });
    const long = server.post(CHAT, { model: "long", messages, n: 4 });
    const streamed = fetch(server.url + CHAT, {
      method: "POST",
      body: JSON.stringify({ model: "long", messages, stream: true }),
    });
    while (server.server.metrics().queued_sequences < 3) await sleep(1);
    const closed = server.server.close(50);
    gate.resolve();
    expect((await short).status).toBe(200);
    expect([(await long).status, (await long).body.error.code]).toEqual([503, "server_closing"]);
    expect(await (await streamed).text()).toContain("server_closing");
    await closed;
    expect(server.server.metrics()).toMatchObject({ running_sequences: 0, queued_sequences: 0 });
    await expect(fetch(`${server.url}/health`)).rejects.toThrow("fetch failed");
  });

  test("several policies have their own ids, and an engine's failure is an error of the server", async () => {
    server = await served({ policies: [writing("one", "First."), writing("two", "Second.")] });
    const models = await (await fetch(`${server.url}/v1/models`)).json();
    expect(models).toMatchObject({ object: "list", data: [{ id: "one", object: "model" }, { id: "two" }] });
    expect(await (await fetch(`${server.url}/v1/models/two`)).json()).toMatchObject({
      id: "two",
      max_model_len: 4_096,
    });
    const contents = await Promise.all(
      ["one", "two"].map(
        async (model) => (await server.post(CHAT, { model, messages })).body.choices[0].message.content,
      ),
    );
    expect(contents).toEqual(["First.", "Second."]);
    const failed = await server.post(COMPLETIONS, { model: "one", prompt: "a", echo: true, logprobs: 0 });
    expect([failed.status, failed.body.error]).toMatchObject([500, { type: "server_error", code: "INTERNAL" }]);
    expect(failed.body.error.message).not.toContain("has no model");
  });
});

test("a deterministic engine answers in waves: requests that arrive together, in one", async () => {
  const engine = new BigramEngine();
  let waves = 0;
  const samplerOf = engine.sampler.bind(engine);
  engine.sampler = async (model) => {
    const sampler = await samplerOf(model);
    return {
      sample: (...given) => sampler.sample(...given),
      barrier: () => (waves++, sampler.barrier()),
      close: () => sampler.close(),
    };
  };
  server = await served({ engine });
  const { body } = await server.post(CHAT, { ...chat, n: 16, seed: 1 });
  expect([body.choices.length, waves]).toEqual([16, 1]);
  const again = await Promise.all(Array.from({ length: 5 }, () => server.post(CHAT, { ...chat, n: 16, seed: 1 })));
  for (const answer of again) expect(answer.body.choices).toEqual(body.choices);
});
