import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test } from "@jest/globals";
import type { Logger } from "@mrlm/spec";
import { served, type Served, writing } from "./support/served.ts";

const CHAT = "/v1/chat/completions";
const user = { role: "user", content: "Hello" };
const call = (id: string, given = "{}") => ({ id, type: "function", function: { name: `f${id}`, arguments: given } });
const calls = (...ids: readonly string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => call(id)),
});
const result = (id: string) => ({ role: "tool", tool_call_id: id, content: `of ${id}` });

let server: Served;
afterEach(() => server.close());

test.each<[string, readonly object[], string]>([
  ["a call has no result", [calls("a", "b"), result("a")], "1.tool_calls"],
  ["a call has no result before the next message", [calls("a"), user, result("a")], "1.tool_calls"],
  ["the last message has calls", [calls("a")], "1.tool_calls"],
  ["a result is of an unknown call", [calls("a"), result("b")], "2.tool_call_id"],
  ["a result is of an earlier message", [calls("a"), result("a"), calls("b"), result("a")], "4.tool_call_id"],
  ["a call has two results", [calls("a"), result("a"), result("a")], "3.tool_call_id"],
  ["a result has no call", [result("a")], "1.tool_call_id"],
  ["a result follows another message", [calls("a"), result("a"), user, result("a")], "4.tool_call_id"],
  ["two calls have the same id", [calls("a", "a"), result("a")], "1.tool_calls"],
  [
    "arguments are nested too deeply",
    [{ ...calls(), tool_calls: [call("a", `{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`)] }, result("a")],
    "1.tool_calls.0.function.arguments",
  ],
])("D12: a conversation is refused where %s", async (_, more, param) => {
  server = await served();
  const { status, body } = await server.post(CHAT, { model: "bigram", messages: [user, ...more], max_tokens: 1 });
  expect([status, body.error]).toMatchObject([400, { code: "invalid_value", param: `messages.${param}` }]);
});

test("D12: results in another order than their calls are rendered in the order of the calls", async () => {
  server = await served();
  const promptOf = async (...results: readonly object[]): Promise<number[]> => {
    const messages = [user, calls("a", "b", "c"), ...results, user, calls("a"), result("a")];
    const answer = await server.post(CHAT, { model: "bigram", messages, max_tokens: 1, return_token_ids: true });
    expect(answer.status).toBe(200);
    return answer.body.prompt_token_ids;
  };
  const ordered = await promptOf(result("a"), result("b"), result("c"));
  expect(await promptOf(result("c"), result("a"), result("b"))).toEqual(ordered);
  expect(server.renderer.decode(Int32Array.from(ordered))).toMatch(/of a.*of b.*of c.*of a/s);
});

test("D17: the number of a try and the key of its request stand in the response and in the log", async () => {
  const logged: unknown[] = [];
  const logger: Logger = {
    debug: (_, fields) => void logged.push(fields),
    info: () => {},
    warn: () => {},
    error: () => {},
  };
  server = await served({ logger });
  const body = { model: "bigram", messages: [user], max_tokens: 1 };
  const send = async (headers: Record<string, string>, change: object = {}) => {
    const answer = await fetch(server.url + CHAT, {
      method: "POST",
      headers,
      body: JSON.stringify({ ...body, ...change }),
    });
    await answer.text();
    return [answer.headers.get("x-stainless-retry-count"), answer.headers.get("idempotency-key")];
  };
  const given = { "idempotency-key": "key-1", "x-stainless-retry-count": "2" };
  expect(await send(given)).toEqual(["2", "key-1"]);
  expect(await send(given, { stream: true })).toEqual(["2", "key-1"]);
  expect(await send(given, { model: "none" })).toEqual(["2", "key-1"]);
  expect(await send({})).toEqual([null, null]);
  expect(await send({ "idempotency-key": "x".repeat(256), "x-stainless-retry-count": "-1" })).toEqual([null, null]);
  await server.close();
  expect(logged).toHaveLength(5);
  expect(logged.slice(0, 3)).toEqual(
    [200, 200, 404].map((status) => expect.objectContaining({ status, retry: 2, idempotency_key: "key-1" })),
  );
  for (const fields of logged.slice(3)) {
    expect(fields).not.toHaveProperty("retry");
    expect(fields).not.toHaveProperty("idempotency_key");
  }
});

test("R23: tries of one request, at once and after a dropped stream, are whole answers that can be distinguished, and a dropped one ends", async () => {
  const logged: Record<string, unknown>[] = [];
  const ignore = (): void => undefined;
  const debug: Logger["debug"] = (_, fields) => void logged.push({ ...fields });
  server = await served({
    policies: [writing("slow", "ab".repeat(200), { pause: () => sleep(1) })],
    logger: { debug, info: ignore, warn: ignore, error: ignore },
  });
  const body = { model: "slow", messages: [user], max_tokens: 400 };
  const send = (retry: string, change: object = {}, signal?: AbortSignal): Promise<Response> =>
    fetch(server.url + CHAT, {
      method: "POST",
      headers: { "idempotency-key": "key", "x-stainless-retry-count": retry },
      body: JSON.stringify({ ...body, ...change }),
      ...(signal && { signal }),
    });
  const answers = await Promise.all(
    ["0", "1"].map(async (retry) => {
      const response = await send(retry);
      const { id, choices } = (await response.json()) as { id: string; choices: { message: { content: string } }[] };
      return [id, response.headers.get("x-stainless-retry-count"), choices[0]?.message.content.length];
    }),
  );
  expect(answers.map(([, ...rest]) => rest)).toEqual([
    ["0", 400],
    ["1", 400],
  ]);
  const controller = new AbortController();
  const dropped = await send("0", { stream: true }, controller.signal);
  await dropped.body?.getReader().read();
  controller.abort();
  const whole = await send("1", { stream: true });
  const texts = (await whole.text()).split("\n\n").filter((line) => line.startsWith("data: {"));
  const chunks = texts.map((line) => JSON.parse(line.slice("data: ".length)) as { id: string; choices: any[] });
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toHaveLength(400);
  expect(new Set([answers[0]?.[0], answers[1]?.[0], ...chunks.map(({ id }) => id)]).size).toBe(3);
  expect(server.server.metrics()).toMatchObject({ requests: 4, disconnects: 1, running_sequences: 0 });
  expect(logged.map(({ retry, idempotency_key: key }) => [retry, key])).toEqual(
    expect.arrayContaining([0, 0, 1, 1].map((retry) => [retry, "key"])),
  );
});

test("R11: markers that content spells, whole or divided by its parts, are ordinary tokens of the prompt", async () => {
  server = await served();
  const [stop] = server.renderer.stopTokenIds;
  const marker = server.renderer.tokenizer.decode(Int32Array.of(stop as number));
  const part = (text: string) => ({ type: "text", text });
  const stopsIn = async (...messages: readonly object[]): Promise<number> => {
    const answer = await server.post(CHAT, { model: "bigram", messages, max_tokens: 1, return_token_ids: true });
    expect(answer.status).toBe(200);
    return (answer.body.prompt_token_ids as number[]).filter((id) => id === stop).length;
  };
  const [head, tail] = [marker.slice(0, 2), marker.slice(2)];
  for (const content of [marker, [part(head), part(tail)], [part(marker), part(head), part(""), part(tail)]])
    expect(await stopsIn({ role: "user", content })).toBe(await stopsIn(user));
  const called = [user, calls("a")];
  for (const content of [marker, [part(head), part(tail)]])
    expect(await stopsIn(...called, { ...result("a"), content })).toBe(await stopsIn(...called, result("a")));
});
