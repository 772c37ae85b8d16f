import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Tokens } from "@mrlm/kit/access";
import type { JsonObject } from "@mrlm/kit";
import { partsOf, readMessages, readPrompt, readTools } from "../src/answers.ts";
import { eventsOf } from "../src/event-stream.ts";
import { FaultyProxy } from "./support/faulty-proxy.ts";
import { callOf, play, textsOf } from "./support/play.ts";
import { bridge, serve, type Served } from "./support/served.ts";

const { signal } = new AbortController();
let served: Served;
let host: Awaited<ReturnType<typeof bridge>>;
beforeAll(async () => {
  served = await serve();
  host = await bridge();
});
afterAll(async () => {
  await host.close();
  await served.close();
});

const sums = (): string => `${served.url}/sums@1`;
const guess = (): string => `${served.url}/guess@1`;

test("an environment is named by the path, or by the option", async () => {
  for (const options of [{ url: guess() }, { url: served.url, environment: "guess@1" }] as JsonObject[]) {
    const { first, steps, rewards } = await play(host.open, options, ["5", "3"]);
    expect(textsOf(first)).toEqual(["Guess a number up to 7."]);
    expect(steps.map(({ observation }) => textsOf(observation.messages))).toEqual([["5 is wrong."], []]);
    expect(rewards).toEqual([undefined, expect.objectContaining({ value: 0.5 })]);
    expect(steps.at(-1)?.terminated).toEqual({ agent: true });
  }
});

test("the end by a limit of the server is truncated", async () => {
  const { steps } = await play(host.open, { url: guess() }, ["1", "1", "1", "1"]);
  expect(steps.at(-1)).toMatchObject({ terminated: { agent: false }, truncated: { agent: true } });
});

test("an episode that the bridge ends is unscored, or has cut_reward", async () => {
  const options = { url: guess(), max_turns: 2 };
  expect((await play(host.open, options, ["5", "4"])).code).toBe("BRIDGE_REWARD_MISSING");
  const { rewards } = await play(host.open, { ...options, cut_reward: -1 }, ["5", "4"]);
  expect(rewards.at(-1)).toMatchObject({ scored: true, value: -1 });
});

test("tools are those of the server without the one for texts", async () => {
  const session = await host.open({ url: sums() });
  const first = await session.reset({ task: "train/3", signal });
  expect(first.tools?.map(({ name }) => name)).toEqual(["add"]);
  expect(first.messages.map(({ role }) => role)).toEqual(["system", "user"]);
  const parts = [callOf("add", { a: 1, b: 2 }), callOf("nothing", {})].flatMap((message) => message.parts);
  const message = { role: "assistant", parts } as const;
  const { observation } = await session.step({ agent: "agent", message, finishReason: "stop" }, { signal });
  expect(observation.messages[0]?.parts).toMatchObject([
    { name: "add", content: [{ text: "3" }], isError: false },
    { name: "nothing", content: [{ text: expect.stringContaining("nothing") }], isError: true },
  ]);
  await session.close();
  const whole = await host.open({ url: sums(), text_tool: "add" });
  const { tools } = await whole.reset({ task: "train/3", signal });
  // `add` has two arguments: it takes no text, and a message without a call is answered with the names of the tools.
  expect(tools?.map(({ name }) => name)).toEqual(["add", "submit"]);
  const text = { role: "assistant", parts: [{ type: "text", text: "7" }] } as const;
  const step = await whole.step({ agent: "agent", message: text, finishReason: "stop" }, { signal });
  expect(textsOf(step.observation.messages)).toEqual(["Call a tool. Available tools: add, submit."]);
  await whole.close();
});

test("tasks are those of the catalogue, and a server without one is refused", async () => {
  expect((await host.describe({ url: sums() })).splits).toEqual({ train: 40, eval: 10 });
  const { first } = await play(host.open, { url: sums() }, [], { task: "eval/2" });
  expect(textsOf(first).at(-1)).toBe("What is 1002 + 1003?");
  const proxy = await FaultyProxy.start(served.url);
  proxy.change = ({ path }) => (path.endsWith("/splits") ? { status: 404, text: "{}" } : undefined);
  await expect(host.describe({ url: `${proxy.url}/sums@1` })).rejects.toMatchObject({ code: "BRIDGE_REFUSED" });
  await proxy.close();
});

test("a seed goes into the field that the options name", async () => {
  const options = { url: sums(), determinism: "full", seed_field: "seed" };
  const session = await host.open(options);
  expect(textsOf((await session.reset({ seed: 3, task: "train/1", signal })).messages)[0]).toBe("Round 3.");
  await session.close();
});

test("an episode waits for a place on a full server", async () => {
  const small = await serve({ maxSessions: 1, queueMs: 1 });
  const options = { url: `${small.url}/guess@1` };
  const first = await host.open(options);
  await first.reset({ signal });
  const second = play(host.open, options, ["3"]);
  await expect(play(host.open, { ...options, timeouts: { wait_ms: 1 } }, ["3"])).rejects.toMatchObject({
    code: "BRIDGE_FULL",
  });
  await first.close();
  expect((await second).rewards).toEqual([expect.objectContaining({ value: 1 })]);
  await small.close();
});

test("the token comes from the variable that token_env names", async () => {
  const guarded = await serve({ tokens: Tokens.of("secret-of-the-test") });
  process.env["ORS_TEST_TOKEN"] = "secret-of-the-test";
  const options: JsonObject = { url: `${guarded.url}/guess@1` };
  const { rewards } = await play(host.open, { ...options, token_env: "ORS_TEST_TOKEN" }, ["3"]);
  expect(rewards).toEqual([expect.objectContaining({ value: 1 })]);
  await expect(host.open(options)).rejects.toMatchObject({
    code: "BRIDGE_REFUSED",
    message: expect.stringContaining("401"),
  });
  await expect(host.open({ ...options, token_env: "ORS_NO_TOKEN" })).rejects.toMatchObject({
    code: "OPTIONS_INVALID",
    message: expect.stringContaining("ORS_NO_TOKEN"),
  });
  await guarded.close();
});

test("a redirect keeps the request, and one to another origin is refused", async () => {
  const proxy = await FaultyProxy.start(served.url);
  proxy.redirect = (path) => (path.startsWith("/other/") ? path.replace("/other", "/sums@1") : undefined);
  const { rewards } = await play(host.open, { url: `${proxy.url}/other` }, ["7"], { task: "train/3" });
  expect(rewards).toEqual([expect.objectContaining({ value: 1 })]);
  proxy.redirect = () => "http://localhost:9/splits";
  await expect(host.describe({ url: `${proxy.url}/sums@1` })).rejects.toMatchObject({
    code: "BRIDGE_REFUSED",
    message: expect.stringContaining("localhost:9"),
  });
  await proxy.close();
});

describe("answers of other servers", () => {
  test("blocks, messages and prompts become messages", () => {
    const text = { type: "text", text: "a" };
    expect(readPrompt([text, { type: "image", data: "AQ==", mimeType: "image/png" }] as JsonObject[])).toEqual([
      {
        role: "user",
        parts: [
          { type: "text", text: "a" },
          { type: "image", mediaType: "image/png", source: { data: Uint8Array.of(1) } },
        ],
      },
    ]);
    expect(readPrompt([])).toEqual([]);
    const messages = readMessages([
      { role: "system", blocks: [text] },
      {
        role: "assistant",
        blocks: [
          { type: "reasoning", text: "hm" },
          { type: "tool_call", name: "add", input: { a: 1 } },
        ],
      },
      { role: "user", blocks: [{ type: "tool_result", tool_call_id: "1", blocks: [text] }] },
    ] as JsonObject[]);
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "user"]);
    expect(textsOf(messages)).toEqual(["a", 'add {"a":1}', "a"]);
    expect(partsOf([{ type: "video" }])).toEqual([{ type: "text", text: '{"type":"video"}' }]);
  });

  test("a tool without a schema takes any object, and a terminal tool takes texts", () => {
    const value = {
      tools: [{ name: "look", description: null, input_schema: null }],
      terminal_tool: { name: "end", arg: "text" },
    };
    expect(readTools(value)).toEqual({
      tools: [{ name: "look", description: "", parameters: { type: "object" } }],
      terminal: { name: "end", argument: "text" },
    });
  });

  test("events are read from chunks of any size, with any end of line", async () => {
    const text = "event: task_id\r\ndata: 1\r\n\r\n: ping\r\n\r\nevent: chunk\r\ndata:  x\r\n\r\ndata: ä\ndata: b\n\n";
    for (const size of [1, 2, 3, 7, 1_000]) {
      const bytes = new TextEncoder().encode(text);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.slice(i * size, (i + 1) * size),
      );
      const body = (async function* () {
        yield* chunks;
      })();
      expect(await Array.fromAsync(eventsOf(body, signal))).toEqual([
        { event: "task_id", data: "1" },
        { event: "chunk", data: " x" },
        { event: "message", data: "ä\nb" },
      ]);
    }
  });
});
