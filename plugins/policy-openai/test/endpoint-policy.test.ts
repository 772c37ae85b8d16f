import { afterEach, expect, test } from "@jest/globals";
import {
  type JsonObject,
  type MrlmError,
  type Observation,
  type Part,
  type PolicyEpisode,
  textMessage,
  type ToolDefinition,
} from "@mrlm/kit";
import { type ChatServer, type ChatServerReply, startChatServer } from "@mrlm/testing";
import { endpointOptions } from "../src/options.ts";
import { EndpointSource } from "../src/endpoint-source.ts";

const signal = new AbortController().signal;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const EPISODE: PolicyEpisode = {
  environment: "duel@1",
  task: "train/0",
  role: "second",
  agent: "second",
  seed: 7,
  sampling: { temperature: 0.5, maxTokens: 32, topP: 0.9 },
  signal,
};
const shown = (text: string, rest: Partial<Observation> = {}): Observation => ({
  agent: "second",
  messages: [textMessage("user", text)],
  ...rest,
});
const SEARCH: ToolDefinition = { name: "search", description: "Searches.", parameters: { type: "object" } };
const call = (id: string, text: string) => ({
  id,
  type: "function",
  function: { name: "search", arguments: text },
});

/** Starts a server with these answers, and opens a policy that asks it. */
async function opened(replies: readonly ChatServerReply[], options: JsonObject = {}) {
  const server = await startChatServer((_request, index) => replies[index] ?? "more");
  const source = new EndpointSource();
  closing.push(
    () => source.close(),
    () => server.close(),
  );
  const parsed = endpointOptions.parse({ base_url: server.baseUrl, model: "m", max_retries: 0, ...options });
  const policy = source.open(EPISODE, parsed);
  return { server, source, parsed, act: (observation: Observation) => policy.act(observation, { signal }) };
}
const bodies = ({ requests }: ChatServer): JsonObject[] => requests.map(({ body }) => body);

test("the conversation of the agent is sent with the run's sampling, without thinking; a fresh observation starts over", async () => {
  const { server, act } = await opened([
    { message: { content: "one", reasoning_content: "hmm" } },
    { message: { content: "tw" }, finishReason: "length" },
  ]);
  expect(await act(shown("a"))).toEqual({
    agent: "second",
    message: {
      role: "assistant",
      parts: [
        { type: "thinking", text: "hmm" },
        { type: "text", text: "one" },
      ],
    },
    finishReason: "stop",
  });
  expect(await act(shown("b"))).toMatchObject({ finishReason: "length" });
  await act(shown("c", { isFresh: true }));
  const user = (content: string) => ({ role: "user", content });
  const assistant = (content: string) => ({ role: "assistant", content });
  expect(bodies(server).map(({ messages }) => messages)).toEqual([
    [user("a")],
    [user("a"), assistant("one"), user("b")],
    [user("c")],
  ]);
  expect(bodies(server)[0]).toMatchObject({ model: "m", temperature: 0.5, top_p: 0.9, max_tokens: 32 });
  expect(bodies(server)[0]).not.toHaveProperty("seed");
});

test("options replace the sampling of the run; null leaves a parameter out; seeds follow from episode and turn", async () => {
  const options = { temperature: null, top_p: null, max_tokens: 5, seed: true };
  const { server, source, parsed, act } = await opened([], options);
  await act(shown("a"));
  await act(shown("b"));
  await source.open(EPISODE, parsed).act(shown("a"), { signal });
  await source.open({ ...EPISODE, seed: 8 }, parsed).act(shown("a"), { signal });
  const [first, second, repeated, other] = bodies(server);
  expect(Object.keys(first ?? {})).not.toContain("temperature");
  expect(Object.keys(first ?? {})).not.toContain("top_p");
  expect(first?.["max_tokens"]).toBe(5);
  expect(repeated?.["seed"]).toBe(first?.["seed"]);
  expect(new Set([first, second, other].map((body) => body?.["seed"])).size).toBe(3);
});

test("tools are offered until they change; calls have ids of their own, and malformed arguments are a malformed call", async () => {
  const { server, act } = await opened([
    { message: { content: null, tool_calls: [call("call_0", '{"q":"x"}')] }, finishReason: "tool_calls" },
    { message: { content: "and", tool_calls: [call("call_0", '{"q":'), call("call_0", "{}")] } },
    "done",
  ]);
  const first = await act(shown("a", { tools: [SEARCH] }));
  expect(first.message.parts).toEqual([{ type: "tool-call", id: "call_0", name: "search", arguments: { q: "x" } }]);
  const content = [{ type: "text" as const, text: "found" }];
  const result = { type: "tool-result" as const, id: "call_0", name: "search", content, isError: false };
  const second = await act({ agent: "second", messages: [{ role: "tool", parts: [result] }] });
  expect(second.message.parts).toMatchObject([
    { type: "text", text: "and" },
    { type: "malformed-call", format: "openai" },
    { type: "tool-call", id: "call_0-2" },
  ]);
  await act(shown("b", { tools: [] }));
  expect(bodies(server).map(({ tools }) => Array.isArray(tools))).toEqual([true, true, false]);
  expect(bodies(server)[1]?.["messages"]).toMatchObject([
    { role: "user" },
    { role: "assistant", tool_calls: [{ id: "call_0" }] },
    { role: "tool", tool_call_id: "call_0", content: "found" },
  ]);
});

test.each([false, true])("D4: calls without an id have ids, each of its own (stream: %s)", async (stream) => {
  const calls = [call("", "{}"), call(" ", "{}"), { ...call("", "{}"), id: null }, call("call_0", "{}")];
  const events = calls.flatMap((each, index) => [
    { choices: [{ delta: { tool_calls: [{ index, ...each, function: { ...each.function, arguments: "{" } }] } }] },
    { choices: [{ delta: { tool_calls: [{ index, id: "", function: { arguments: "}" } }] } }] },
  ]);
  const end = { choices: [{ delta: {}, finish_reason: "tool_calls" }] };
  const streamed = [...events, end].map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  const reply: ChatServerReply = stream
    ? page(200, streamed, { "content-type": "text/event-stream" })
    : { message: { content: null, tool_calls: calls }, finishReason: "tool_calls" };
  const { server, act } = await opened([reply, reply, "done"], { stream });
  const idsOf = (parts: readonly Part[]) => parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : []));
  const first = await act(shown("a", { tools: [SEARCH] }));
  const second = await act(shown("b"));
  const ids = [...idsOf(first.message.parts), ...idsOf(second.message.parts)];
  expect(ids).toHaveLength(8);
  expect(new Set(ids).size).toBe(8);
  expect(ids.every((id) => id.trim() !== "")).toBe(true);
  await act(shown("c"));
  expect(bodies(server)[2]?.["messages"]).toMatchObject([
    { role: "user" },
    { tool_calls: idsOf(first.message.parts).map((id) => ({ id })) },
    { role: "user" },
    { tool_calls: idsOf(second.message.parts).map((id) => ({ id })) },
    { role: "user" },
  ]);
});

test("D16: arguments with a key twice are a malformed call", async () => {
  const { act } = await opened([{ message: { content: null, tool_calls: [call("a", '{"q":"x","q":"y"}')] } }]);
  const { message } = await act(shown("a", { tools: [SEARCH] }));
  expect(message.parts).toMatchObject([{ type: "malformed-call", error: expect.stringContaining("occurs twice") }]);
});

const page =
  (status: number, body: string, headers: Record<string, string> = {}): ChatServerReply =>
  (response) =>
    void response.writeHead(status, headers).end(body);
const JSON_TYPE = { "content-type": "application/json" };
const LONG = '{"error":{"code":"context_length_exceeded","message":"long"}}';

test.each<[string, ChatServerReply, string]>([
  ["a content filter", { message: { content: "par" }, finishReason: "content_filter" }, "ENDPOINT_OUTPUT_FILTERED"],
  ["a refusal", { message: { content: null, refusal: "No." } }, "ENDPOINT_OUTPUT_FILTERED"],
  ["null content", { message: { content: null } }, "ENDPOINT_OUTPUT_EMPTY"],
  ["blank content", " \n", "ENDPOINT_OUTPUT_EMPTY"],
  ["reasoning alone", { message: { content: "", reasoning_content: "hm" } }, "ENDPOINT_OUTPUT_EMPTY"],
  ["a cut before the answer", { message: { content: "" }, finishReason: "length" }, "ENDPOINT_OUTPUT_CUT"],
  ["a call without tools", { message: { content: "x", tool_calls: [call("a", "{}")] } }, "ENDPOINT_OUTPUT_INVALID"],
  ["a million characters", "a".repeat(1_000_001), "ENDPOINT_OUTPUT_INVALID"],
  ["a page of HTML", page(200, "<html>hello</html>", { "content-type": "text/html" }), "ENDPOINT_RESPONSE_INVALID"],
  ["half a JSON", page(200, '{"choices": [{"mess', JSON_TYPE), "ENDPOINT_RESPONSE_INVALID"],
  ["the wrong form", page(200, '{"choices": []}', JSON_TYPE), "ENDPOINT_RESPONSE_INVALID"],
  ["a limit of requests", page(429, "{}", { "retry-after": "0" }), "ENDPOINT_RATE_LIMITED"],
  ["a server error", page(503, "busy"), "ENDPOINT_FAILED"],
  ["a wrong key", page(401, "{}"), "ENDPOINT_KEY_INVALID"],
  ["an unknown model", page(404, "{}"), "ENDPOINT_MODEL_NOT_FOUND"],
  ["a long context", page(400, LONG), "ENDPOINT_CONTEXT_TOO_LONG"],
  ["a closed connection", (response) => void response.destroy(), "ENDPOINT_UNREACHABLE"],
])("%s is an error with a code", async (_what, reply, code) => {
  const { act } = await opened([reply]);
  await expect(act(shown("a"))).rejects.toMatchObject({ code });
});

test("surrogates without their pair are replaced in texts, arguments and reasoning", async () => {
  const lone = "a\ud800";
  const tool_calls = [call("c", JSON.stringify({ q: [lone] }))];
  const { act } = await opened([{ message: { content: lone, reasoning_content: lone, tool_calls } }]);
  const { message } = await act(shown("a", { tools: [SEARCH] }));
  expect(JSON.stringify(message)).not.toContain("\\ud800");
  expect(message.parts).toMatchObject([{ text: "a\ufffd" }, { text: "a\ufffd" }, { arguments: { q: ["a\ufffd"] } }]);
});

test("with on_empty: answer, an answer without text is the turn", async () => {
  const cut = { message: { content: "" }, finishReason: "length" };
  const { server, act } = await opened([{ message: { content: null } }, cut], { on_empty: "answer" });
  expect(await act(shown("a"))).toEqual({
    agent: "second",
    message: { role: "assistant", parts: [] },
    finishReason: "stop",
  });
  expect(await act(shown("b"))).toMatchObject({ finishReason: "length" });
  await act(shown("c"));
  expect(bodies(server)[2]?.["messages"]).toHaveLength(5);
});

test("a silent server ends a turn at its deadline, and an aborted turn ends at once", async () => {
  const silent: ChatServerReply = () => undefined;
  const { act } = await opened([silent], { deadline_ms: 40 });
  await expect(act(shown("a"))).rejects.toMatchObject({ code: "ENDPOINT_TIMEOUT" });
  const { source, parsed, server } = await opened([silent]);
  const abort = new AbortController();
  const turn = source.open(EPISODE, parsed).act(shown("a"), { signal: abort.signal });
  while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  abort.abort(new Error("over"));
  await expect(turn).rejects.toThrow("over");
});

test("the key comes from the named variable; one that is not set is refused before a request", async () => {
  process.env["POLICY_OPENAI_TEST_KEY"] = "sk-secret";
  const { server, act } = await opened(["one"], { api_key_env: "POLICY_OPENAI_TEST_KEY" });
  await act(shown("a"));
  expect(server.requests[0]?.headers["authorization"]).toBe("Bearer sk-secret");
  delete process.env["POLICY_OPENAI_TEST_KEY"];
  const fault = (options: JsonObject): string =>
    (endpointOptions.safeParse({ model: "m", ...options }).error as unknown as MrlmError).message;
  expect(fault({ api_key_env: "POLICY_OPENAI_TEST_KEY" })).toContain("which holds the API key, is not set");
  for (const secret of ["sk-secret", "hf_secret"]) {
    const written = fault({ api_key_env: secret });
    expect(written).toContain("api_key_env");
    expect(written).not.toContain(secret);
  }
  const cache = { mode: "replay-or-fail", file: "answers.db" };
  expect(endpointOptions.safeParse({ model: "m", api_key_env: "POLICY_OPENAI_TEST_KEY", cache }).success).toBe(true);
});

test("players with the same options share a client, and no more requests than its places run at a time", async () => {
  let [running, most] = [0, 0];
  const server = await startChatServer(async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running--;
    return "one";
  });
  const source = new EndpointSource();
  closing.push(
    () => source.close(),
    () => server.close(),
  );
  const options = (temperature: number) =>
    endpointOptions.parse({ base_url: server.baseUrl, model: "m", concurrency: 2, temperature });
  expect(source.client(options(0))).toBe(source.client(options(1)));
  const turns = Array.from({ length: 8 }, (_, i) => source.open(EPISODE, options(i % 2)).act(shown("a"), { signal }));
  await Promise.all(turns);
  expect(most).toBe(2);
});

test("an observation lowers the limit of tokens, and does not raise it", async () => {
  const { server, act } = await opened([]);
  await act(shown("a", { maxTokens: 8 }));
  await act(shown("b", { maxTokens: 99 }));
  expect(bodies(server).map(({ max_tokens }) => max_tokens)).toEqual([8, 32]);
});
