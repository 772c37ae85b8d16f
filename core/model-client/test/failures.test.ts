import { afterEach, describe, expect, test } from "@jest/globals";
import type { Socket } from "node:net";
import { silentLogger } from "@mrlm/kit/service";
import { MrlmError } from "@mrlm/spec";
import { z } from "zod";
import type { ChatServerReply } from "@mrlm/testing";
import { closeAll, connect, errorOf, never, request, respond, serve, serveRaw } from "./support/connect.ts";

afterEach(closeAll);

/** Waits of retries are in the headers, so that tests are quick. */
const soon = { "retry-after-ms": "1" };
const fault = (message: string, fields: object = {}): object => ({ error: { message, ...fields } });

describe("retries", () => {
  test.each<[string, ChatServerReply]>([
    ["rate limited", respond(429, fault("slow down"), soon)],
    ["broken", respond(500, fault("oops"), soon)],
    ["a gateway with a page of HTML", respond(502, "<html>Bad gateway</html>", soon)],
    ["overloaded by a body of status 200", respond(200, fault("busy", { code: 503 }), soon)],
  ])("an endpoint that is %s is asked again", async (_name, reply) => {
    const server = await serve((_request, index) => (index < 2 ? reply : "ok"));
    const client = connect(server.baseUrl);
    const { text, timing } = await client.complete(request, { signal: never });
    expect({ text, attempts: timing.attempts }).toEqual({ text: "ok", attempts: 3 });
    expect(client.stats()).toMatchObject({ answers: 1, requests: 3, failures: {} });
  });

  test("after all retries the failure has the code of its cause", async () => {
    const server = await serve(() => respond(429, fault("slow down"), soon));
    const error = await errorOf(connect(server.baseUrl, { max_retries: 1 }).complete(request, { signal: never }));
    expect(error).toMatchObject({ code: "ENDPOINT_RATE_LIMITED", isRetryable: true, retryDelayMs: 1 });
    expect(error.message).toContain('"slow down"');
    expect(server.requests).toHaveLength(2);
  });

  test("a wait that is longer than the rest of the time is not begun", async () => {
    const server = await serve(() => respond(429, fault("slow down"), { "retry-after": "30" }));
    const work = connect(server.baseUrl).complete(request, { signal: never, deadlineMs: 5000 });
    await expect(work).rejects.toMatchObject({ code: "ENDPOINT_RATE_LIMITED", retryDelayMs: 30_000 });
    expect(server.requests).toHaveLength(1);
  });

  test.each<[string, number, object | string, string]>([
    ["a wrong key", 401, fault("bad key"), "ENDPOINT_KEY_INVALID"],
    ["a forbidden model", 403, fault("not yours"), "ENDPOINT_KEY_INVALID"],
    ["an unknown model", 404, fault("no such model"), "ENDPOINT_MODEL_NOT_FOUND"],
    ["a wrong parameter", 400, fault("temperature must be 1"), "ENDPOINT_REQUEST_REFUSED"],
    ["a wrong parameter (FastAPI)", 422, { detail: "extra fields" }, "ENDPOINT_REQUEST_REFUSED"],
    [
      "a long context (OpenAI)",
      400,
      fault("too long", { code: "context_length_exceeded" }),
      "ENDPOINT_CONTEXT_TOO_LONG",
    ],
    ["a long context (vLLM)", 400, fault("This model's maximum context length is 64"), "ENDPOINT_CONTEXT_TOO_LONG"],
    ["a long context (500)", 500, fault("exceeds the available context size"), "ENDPOINT_CONTEXT_TOO_LONG"],
    ["a spent quota", 429, fault("quota", { code: "insufficient_quota" }), "ENDPOINT_RATE_LIMITED"],
    ["a filtered prompt", 400, fault("policy", { code: "content_filter" }), "ENDPOINT_OUTPUT_FILTERED"],
    ["a redirect", 307, "moved", "ENDPOINT_MODEL_NOT_FOUND"],
    ["a page of HTML", 200, "<html>Welcome</html>", "ENDPOINT_RESPONSE_INVALID"],
  ])("%s is not asked again", async (_name, status, body, code) => {
    const server = await serve(() => respond(status, body, { location: "http://127.0.0.1:1/" }));
    const error = await errorOf(connect(server.baseUrl).complete(request, { signal: never }));
    expect(error).toMatchObject({ code, isRetryable: false });
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ["half a JSON", '{"choices": ['],
    ["a deep JSON (U5)", `{"choices": ${"[".repeat(200_000)}${"]".repeat(200_000)}}`],
    ["JSON that is no completion", '{"id": 1}'],
    ["an empty list of choices", '{"choices": []}'],
    ["an empty body", ""],
  ])("%s is asked again, and then has a code", async (_name, body) => {
    const server = await serve(() => respond(200, body, soon));
    const work = connect(server.baseUrl, { max_retries: 1 }).complete(request, { signal: never });
    await expect(work).rejects.toMatchObject({ code: "ENDPOINT_RESPONSE_INVALID" });
    expect(server.requests).toHaveLength(2);
  });

  test.each([
    ["ends early", 'data: {"choices":[{"delta":{"content":"ha"}}]}\n\n', "ENDPOINT_RESPONSE_INVALID"],
    ["has an error", 'data: {"error":{"message":"overloaded","code":503}}\n\n', "ENDPOINT_FAILED"],
    [
      "has a deep error (U5)",
      `data: {"error":${"[".repeat(200_000)}${"]".repeat(200_000)}}\n\n`,
      "ENDPOINT_RESPONSE_INVALID",
    ],
    ["is no JSON", "data: {ha\n\n", "ENDPOINT_RESPONSE_INVALID"],
  ])("a stream that %s has a code", async (_name, body, code) => {
    const server = await serve(() => respond(200, body, { "content-type": "text/event-stream" }));
    const client = connect(server.baseUrl, { max_retries: 0, stream: true });
    await expect(client.complete(request, { signal: never })).rejects.toMatchObject({ code });
  });
});

describe("N10: an endpoint that refuses `response_format`", () => {
  const output = { name: "x", schema: z.strictObject({ score: z.int() }) };

  test("is asked in words, from then on, with one warning", async () => {
    const server = await serve(({ body }) =>
      body["response_format"] === undefined
        ? '{"score": 7}'
        : respond(400, fault("response_format is not supported", { param: "response_format" })),
    );
    const lines: string[] = [];
    const client = connect(server.baseUrl, {}, { ...silentLogger, warn: (line) => void lines.push(line) });
    for (let call = 0; call < 2; call++) {
      const { value, isRepaired } = await client.completeJson(request, output, { signal: never });
      expect([value, isRepaired]).toEqual([{ score: 7 }, false]);
    }
    const ways = server.requests.map(({ body }) => [
      body["response_format"] !== undefined,
      body.messages.at(-1)?.content.includes('"score":{"type":"integer"') === true,
    ]);
    expect(ways).toEqual([
      [true, false],
      [false, true],
      [false, true],
    ]);
    expect(lines).toEqual([expect.stringContaining("has no structured output")]);
  });

  test("does not change the requests to another one", async () => {
    const refusing = await serve(({ body }) =>
      respond(body["response_format"] === undefined ? 404 : 400, fault("json_schema")),
    );
    const other = await serve(() => '{"score": 7}');
    const client = connect(refusing.baseUrl, { model: ["a", { model: "b", base_url: other.baseUrl }] });
    await client.completeJson(request, output, { signal: never });
    expect(refusing.requests).toHaveLength(2);
    expect(other.requests[0]?.body["response_format"]).toBeDefined();
  });

  test("and refuses words as well is a failure", async () => {
    const server = await serve(() => respond(400, fault("response_format is not supported")));
    const work = connect(server.baseUrl).completeJson(request, output, { signal: never });
    await expect(work).rejects.toMatchObject({ code: "ENDPOINT_REQUEST_REFUSED" });
    expect(server.requests).toHaveLength(2);
  });
});

describe("connections", () => {
  const answer = '{"choices":[{"message":{"content":"ok"}}]}';
  const whole = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${answer.length}\r\n\r\n${answer}`;

  const failures: [string, (socket: Socket) => void][] = [
    ["reset", (socket) => socket.resetAndDestroy()],
    ["closed in the headers", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-")],
    ["closed in the body", (socket) => socket.end(whole.slice(0, -5))],
    ["no HTTP", (socket) => socket.end("220 mail.test ESMTP\r\n")],
  ];

  test("connections that fail are tried again, and then have a code", async () => {
    let connections = 0;
    const baseUrl = await serveRaw((socket) => failures[connections++]?.[1](socket) ?? socket.end(whole));
    const client = connect(baseUrl, { max_retries: 0, model: ["a", "b", "c", "d"] });
    const error = await errorOf(client.complete(request, { signal: never }));
    expect(error.message.match(/ENDPOINT_UNREACHABLE: /g)).toHaveLength(failures.length);
    expect(connections).toBe(failures.length);
  });

  test("a connection that is closed in the body is tried again", async () => {
    let connections = 0;
    const baseUrl = await serveRaw((socket) => socket.end(connections++ === 0 ? whole.slice(0, -5) : whole));
    const { text, timing } = await connect(baseUrl).complete(request, { signal: never });
    expect({ text, attempts: timing.attempts }).toEqual({ text: "ok", attempts: 2 });
  });

  test("an address without a server is unreachable", async () => {
    const server = await serve(() => "ok");
    await server.close();
    const error = await errorOf(connect(server.baseUrl, { max_retries: 0 }).complete(request, { signal: never }));

    expect(error).toMatchObject({ code: "ENDPOINT_UNREACHABLE", message: expect.stringContaining("ECONNREFUSED") });
  });

  test.each<[string, (socket: Socket) => void]>([
    ["sends nothing", () => undefined],
    [
      "sends a byte at a time",
      (socket) => {
        const timer = setInterval(() => socket.write(" "), 50);
        socket.on("close", () => clearInterval(timer)).write(whole.slice(0, -answer.length));
      },
    ],
  ])("an endpoint that %s is given up after `timeout_ms`, and its place is free", async (_name, hang) => {
    let connections = 0;
    const baseUrl = await serveRaw((socket) => (connections++ === 0 ? hang(socket) : socket.end(whole)));
    const client = connect(baseUrl, { timeout_ms: 600, max_retries: 0, concurrency: 1 });
    await expect(client.complete(request, { signal: never })).rejects.toMatchObject({ code: "ENDPOINT_TIMEOUT" });
    await expect(client.complete(request, { signal: never })).resolves.toMatchObject({ text: "ok" });
  });

  test("one deadline ends all attempts, with the code of a timeout", async () => {
    const server = await serve(() => () => undefined);
    const client = connect(server.baseUrl, { timeout_ms: 40, max_retries: 20 });
    const error = await errorOf(client.complete(request, { signal: never, deadlineMs: 200 }));
    expect(error).toMatchObject({
      code: "ENDPOINT_TIMEOUT",
      message: expect.stringContaining("did not answer within 40 ms"),
    });
  });

  test("the signal of the caller ends the request with its reason, and closes the connection", async () => {
    const server = await serve(() => () => undefined);
    const client = connect(server.baseUrl);
    const abort = new AbortController();
    const work = errorOf(client.complete(request, { signal: abort.signal }));
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const reason = new Error("the step is given up");
    abort.abort(reason);
    expect(await work).toBe(reason);
    while (server.openConnections() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await expect(client.complete(request, { signal: abort.signal })).rejects.toBe(reason);
    expect(server.requests).toHaveLength(1);
  });
});

describe("failover", () => {
  test("the next model answers where the first fails", async () => {
    const server = await serve(({ body }) => (body["model"] === "a" ? respond(404, fault("no such model")) : "ok"));
    const client = connect(server.baseUrl, { model: ["a", "b"] });
    const { model, timing } = await client.complete(request, { signal: never });
    expect({ model, attempts: timing.attempts }).toEqual({ model: "b", attempts: 2 });
    expect(client.stats()).toMatchObject({ failovers: 1, failures: {} });
  });

  test("a model that failed is asked after the others for a while, and not after a request that it refuses", async () => {
    const outage = await serve(({ body }) => (body["model"] === "a" ? respond(404, fault("no such model")) : "ok"));
    const client = connect(outage.baseUrl, { model: ["a", "b"] });
    for (let call = 0; call < 3; call++) await client.complete(request, { signal: never });
    expect(outage.requests.map(({ body }) => body["model"])).toEqual(["a", "b", "b", "b"]);
    const long = { code: "context_length_exceeded" };
    const short = await serve(({ body }) => (body["model"] === "a" ? respond(400, fault("too long", long)) : "ok"));
    const other = connect(short.baseUrl, { model: ["a", "b"] });
    for (let call = 0; call < 2; call++) await other.complete(request, { signal: never });
    expect(short.requests.map(({ body }) => body["model"])).toEqual(["a", "b", "a", "b"]);
  });

  test("a model that does not answer leaves time for the next", async () => {
    const server = await serve(({ body }) => (body["model"] === "a" ? () => undefined : "ok"));
    const client = connect(server.baseUrl, { model: ["a", "b"] });
    const { model } = await client.complete(request, { signal: never, deadlineMs: 2_000 });
    expect(model).toBe("b");
  });

  test("the signal of the caller ends the request with its reason, and no other model is asked or counted as failed", async () => {
    const server = await serve(({ body }) =>
      body["model"] === "a" && server.requests.length < 2 ? () => undefined : "ok",
    );
    const client = connect(server.baseUrl, { model: ["a", "b"] });
    const abort = new AbortController();
    const work = errorOf(client.complete(request, { signal: abort.signal }));
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    const reason = new MrlmError("ENDPOINT_TIMEOUT", "The deadline of scoring has passed.");
    abort.abort(reason);
    expect(await work).toBe(reason);
    expect((await client.complete(request, { signal: never })).model).toBe("a");
  });

  test("the error names the failures of all models", async () => {
    const server = await serve(({ body }) =>
      body["model"] === "a" ? respond(500, fault("oops"), soon) : respond(401, fault("bad key")),
    );
    const client = connect(server.baseUrl, { model: ["a", "b"], max_retries: 0 });
    const error = await errorOf(client.complete(request, { signal: never }));
    expect(error).toMatchObject({ code: "ENDPOINT_KEY_INVALID", isRetryable: true });
    for (const part of ["ENDPOINT_FAILED: The model a", "ENDPOINT_KEY_INVALID: The model b"])
      expect(error.message).toContain(part);
  });
});

describe("budget", () => {
  const prices = { judge: { input: 100_000, output: 100_000, cached_input: 0 } };

  test.each([
    [{ requests: 3 }, 3, "3 requests"],
    [{ tokens: 40 }, 3, "45 of 40 tokens"],
    [{ cost: 2 }, 2, "3 of 2 in cost"], // 15 tokens at 0.1
  ])("%j ends after %i answers", async (budget, answers, used) => {
    const server = await serve(() => "ok");
    const client = connect(server.baseUrl, { budget, prices });
    for (let index = 0; index < answers; index++) await client.complete(request, { signal: never });
    const error = await errorOf(client.complete(request, { signal: never }));
    expect(error).toMatchObject({ code: "ENDPOINT_BUDGET_SPENT", message: expect.stringContaining(used) });
    expect(server.requests).toHaveLength(answers);
    expect(client.stats()).toMatchObject({ requests: answers, failures: { ENDPOINT_BUDGET_SPENT: 1 } });
  });

  test("retries count, and end with the budget", async () => {
    const server = await serve(() => respond(500, fault("oops"), soon));
    const client = connect(server.baseUrl, { budget: { requests: 2 }, max_retries: 9, model: ["judge", "other"] });
    await expect(client.complete(request, { signal: never })).rejects.toMatchObject({ code: "ENDPOINT_BUDGET_SPENT" });
    expect(server.requests).toHaveLength(2);
  });

  test("cached input has its own price", async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 8 } };
    const server = await serve(() => ({ message: { content: "ok" }, usage }));
    const client = connect(server.baseUrl, { prices });
    const { cost } = (await client.complete(request, { signal: never })).usage;
    expect(cost).toBeCloseTo(0.3);
  });
});
