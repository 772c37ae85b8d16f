import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { JsonObject } from "@mrlm/kit";
import { Tokens } from "@mrlm/kit/access";
import { actionForm } from "../src/action-form.ts";
import { messagesOf, toolContent } from "../src/observation.ts";
import { FaultyProxy } from "./support/faulty-proxy.ts";
import { callOf, play, textsOf } from "./support/play.ts";
import { bridge, serve, type Served } from "./support/served.ts";

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

test("a text-only environment takes several turns, whose rewards add up", async () => {
  const { first, steps, rewards } = await play(host.open, { url: guess() }, ["5", "4", "3"]);
  expect(textsOf(first)).toEqual(["Guess a number up to 7."]);
  expect(steps.slice(0, 2).map(({ observation }) => textsOf(observation.messages))).toEqual([
    ["5 is wrong."],
    ["4 is wrong."],
  ]);
  expect(rewards.map((reward) => reward?.scored === true && reward.value)).toEqual([0, 0, 0.5]);
  expect(steps.at(-1)).toMatchObject({ terminated: { agent: true }, truncated: { agent: false } });
});

test("the end by a limit of the server is truncated", async () => {
  const { steps } = await play(host.open, { url: guess() }, ["1", "1", "1", "1"]);
  expect(steps.at(-1)).toMatchObject({ terminated: { agent: false }, truncated: { agent: true } });
});

test("`rewards: last` gives the last reward once, at the end", async () => {
  const { rewards } = await play(host.open, { url: guess(), rewards: "last" }, ["5", "3"]);
  expect(rewards).toEqual([undefined, expect.objectContaining({ value: 0.5 })]);
});

test("the bridge ends an episode after max_turns", async () => {
  const { steps, rewards } = await play(host.open, { url: guess(), max_turns: 2 }, ["5", "4", "3"]);
  expect(steps).toHaveLength(2);
  expect(steps.at(-1)?.truncated).toEqual({ agent: true });
  expect(rewards.at(-1)).toMatchObject({ scored: true, value: 0 });
});

test("tools are those of the server without submit, and calls are steps in their order", async () => {
  const session = await host.open({ url: sums() });
  const { signal } = new AbortController();
  const first = await session.reset({ task: "train/3", signal });
  expect(first.tools?.map(({ name }) => name)).toEqual(["add"]);
  expect(first.messages.map(({ role }) => role)).toEqual(["system", "user"]);
  const parts = [callOf("add", { a: 1, b: 2 }), callOf("nothing", {}), callOf("add", { a: "x" })].flatMap((each, i) =>
    each.parts.map((part) => ({ ...part, id: String(i) })),
  );
  const malformed = {
    type: "malformed-call",
    text: "<",
    format: "hermes",
    error: "It is no JSON.",
    offset: 0,
  } as const;
  const message = { role: "assistant", parts: [...parts, malformed] } as const;
  const { observation, rewards } = await session.step({ agent: "agent", message, finishReason: "stop" }, { signal });
  expect(observation.messages[0]?.parts).toMatchObject([
    { id: "0", name: "add", content: [{ text: "3" }], isError: false },
    { id: "1", name: "nothing", isError: true },
    { id: "2", name: "add" },
  ]);
  expect(textsOf(observation.messages.slice(1))).toEqual(["A tool call is malformed and was not run. It is no JSON."]);
  expect(rewards).toEqual({ agent: expect.objectContaining({ value: 0 }) });
  await session.close();
});

test("tasks are those of the catalogue, and of a server without them there is one", async () => {
  expect((await host.describe({ url: sums() })).splits).toEqual({ train: 40, eval: 10 });
  expect((await host.describe({ url: guess() })).splits).toEqual({ train: 1, eval: 0 });
  expect((await host.describe({ url: sums(), splits: { train: "eval", eval: "train" } })).splits).toEqual({
    train: 10,
    eval: 40,
  });
  await expect(host.describe({ url: sums(), splits: { train: "dev" } })).rejects.toMatchObject({
    code: "BRIDGE_REFUSED",
    message: expect.stringContaining("train, eval"),
  });
  const { first } = await play(host.open, { url: sums() }, [], { task: "eval/2" });
  expect(textsOf(first).at(-1)).toBe("What is 1002 + 1003?");
});

test("a server without a catalogue has seeds as tasks", async () => {
  const proxy = await FaultyProxy.start(served.url);
  proxy.status = (path) => (path.endsWith("/splits") ? 501 : undefined);
  const options = { url: `${proxy.url}/sums@1`, seeds: { train: 5, eval: 3 } };
  expect((await host.describe(options)).splits).toEqual({ train: 5, eval: 3 });
  const { first } = await play(host.open, options, [], { task: "eval/1" });
  // The seed of the second task of `eval` is 6.
  expect(textsOf(first)[0]).toBe("Round 6.");
  await proxy.close();
});

test("determinism is that of the option, and `none` refuses a seed", async () => {
  expect((await host.describe({ url: sums() })).determinism).toBe("none");
  const { signal } = new AbortController();
  const session = await host.open({ url: sums() });
  await expect(session.reset({ seed: 1, signal })).rejects.toMatchObject({ code: "SEED_REFUSED" });
  await session.close();
  const full = await host.open({ url: sums(), determinism: "full" });
  expect(textsOf((await full.reset({ seed: 3, task: "train/1", signal })).messages)[0]).toBe("Round 3.");
  expect(textsOf((await full.reset({ seed: -3, task: "train/1", signal })).messages)[0]).toBe(
    `Round ${(2 ** 32 - 3) % 7}.`,
  );
  await full.close();
});

test("a prompt stands before the first observation", async () => {
  const { first } = await play(host.open, { url: guess(), prompt: "Rules." }, []);
  expect(textsOf(first)).toEqual(["Rules.", "Guess a number up to 7."]);
});

describe("a full server", () => {
  test("an episode waits for a session, and begins when there is one", async () => {
    const small = await serve({ maxSessions: 1, queueMs: 1 });
    const options = { url: `${small.url}/guess@1` };
    const first = await host.open(options);
    const { signal } = new AbortController();
    await first.reset({ signal });
    const second = play(host.open, options, ["3"]);
    const refused = play(host.open, { ...options, timeouts: { wait_ms: 1 } }, ["3"]);
    await expect(refused).rejects.toMatchObject({ code: "BRIDGE_FULL" });
    await first.close();
    expect((await second).rewards).toEqual([expect.objectContaining({ value: 1 })]);
    await small.close();
  });

  test("max_sessions keeps the number of sessions", async () => {
    const small = await serve({ maxSessions: 2, maxSessionsPerClient: 2, queueMs: 1 });
    const options = { url: `${small.url}/guess@1`, max_sessions: 2, timeouts: { wait_ms: 1 } };
    const played = await Promise.all(Array.from({ length: 12 }, () => play(host.open, options, ["1", "3"])));
    expect(played.map(({ rewards }) => rewards.at(-1))).toEqual(
      Array(12).fill(expect.objectContaining({ value: 0.5 })),
    );
    await small.close();
  });
});

describe("the token of a server", () => {
  const url = async (): Promise<Served> => serve({ tokens: Tokens.of("secret-of-the-test") });

  test("comes from the variable that token_env names", async () => {
    const guarded = await url();
    process.env["OPENENV_TEST_TOKEN"] = "secret-of-the-test";
    const options = { url: `${guarded.url}/guess@1`, token_env: "OPENENV_TEST_TOKEN" };
    expect((await play(host.open, options, ["3"])).rewards).toEqual([expect.objectContaining({ value: 1 })]);
    await guarded.close();
  });

  test("is refused if it is wrong, or missing", async () => {
    const guarded = await url();
    process.env["OPENENV_WRONG_TOKEN"] = "another";
    const options: JsonObject = { url: `${guarded.url}/guess@1` };
    for (const more of [{}, { token_env: "OPENENV_WRONG_TOKEN" }] as JsonObject[])
      await expect(host.open({ ...options, ...more })).rejects.toMatchObject({
        code: "BRIDGE_REFUSED",
        message: expect.stringContaining("401"),
      });
    await expect(host.open({ ...options, token_env: "OPENENV_NO_TOKEN" })).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      message: expect.stringContaining("OPENENV_NO_TOKEN"),
    });
    await guarded.close();
  });
});

describe("actions of a schema", () => {
  const form = (
    properties: JsonObject,
    required: string[] = [],
    more: object = {},
    title = "MyAction",
    rest: JsonObject = {},
  ) =>
    actionForm({ title, properties: { metadata: {}, ...properties }, required, ...rest }, { tools: "auto", ...more });
  const string = { type: "string" };

  test("a text fills the only field, the only required one, or the one of action_field", () => {
    expect(form({ text: string }).ofText?.("a")).toEqual({ text: "a" });
    expect(form({ text: string, note: string }, ["text"]).ofText?.("a")).toEqual({ text: "a" });
    expect(form({ text: string, note: string }, [], { action_field: "note" }).ofText?.("a")).toEqual({ note: "a" });
    expect(() => form({ text: string }, [], { action_field: "word" })).toThrow("They have: text");
  });

  test("a text states a number, a Boolean or JSON where the field is one", () => {
    expect(form({ move: { type: "integer" } }).ofText?.(" 3 ")).toEqual({ move: 3 });
    expect(form({ go: { type: "boolean" } }).ofText?.("true")).toEqual({ go: true });
    expect(form({ at: { type: "array" } }).ofText?.("[1, 2]")).toEqual({ at: [1, 2] });
    for (const [type, text] of [
      ["integer", "3.5"],
      ["number", "three"],
      ["boolean", "1"],
      ["array", "{}"],
      ["object", "[]"],
    ] as const)
      expect(() => form({ field: { type } }).ofText?.(text)).toThrow("The answer must be");
  });

  test("D11: a text states what the schema names behind references and combinations", () => {
    const $defs = { Mode: { enum: [1, 2] } };
    const of = (schema: JsonObject, text: string) =>
      form({ field: schema }, [], {}, "MyAction", { $defs }).ofText?.(text);
    expect(of({ $ref: "#/$defs/Mode" }, "2")).toEqual({ field: 2 });
    expect(of({ allOf: [{ $ref: "#/$defs/Mode" }] }, "1")).toEqual({ field: 1 });
    expect(of({ anyOf: [{ type: "integer" }, { type: "null" }] }, "null")).toEqual({ field: null });
    expect(of({ anyOf: [{ type: "integer" }, { type: "string" }] }, "a")).toEqual({ field: "a" });
    expect(() => of({ anyOf: [{ type: "integer" }, { type: "null" }] }, "a")).toThrow(
      "The answer must be an integer or null.",
    );
  });

  test("several fields are written as one JSON object", () => {
    const { ofText } = form({ x: { type: "integer" }, y: { type: "integer" } }, ["x", "y"]);
    expect(ofText?.('{"x": 1, "y": 2}')).toEqual({ x: 1, y: 2 });
    expect(() => ofText?.("1 2")).toThrow("one JSON object");
    // D16, U5
    expect(() => ofText?.('{"x": 1, "y": 2, "x": 3}')).toThrow("one JSON object");
    expect(() => ofText?.(`{"x": 1, "y": ${"[".repeat(2_000)}${"]".repeat(2_000)}}`)).toThrow("one JSON object");
  });

  test("tools are recognised by the fields or the title, unless the options state it", () => {
    expect(form({ tool_name: string, arguments: {} })).toEqual({ hasTools: true, ofText: undefined });
    expect(form({}, [], {}, "Action")).toEqual({ hasTools: true, ofText: undefined });
    expect(form({ tool_name: string }, [], { tools: "no" }).hasTools).toBe(false);
    expect(form({ text: string }, [], { tools: "yes" }).hasTools).toBe(true);
    expect(actionForm(undefined, { tools: "auto" }).ofText?.("a")).toEqual({ message: "a" });
  });
});

test("observations become texts: the field, the only text, else JSON", () => {
  const texts = (observation: JsonObject, field?: string) => textsOf(messagesOf(observation, field, false));
  expect(texts({ text: "a", metadata: {} })).toEqual(["a"]);
  expect(texts({ text: "a", length: 1 })).toEqual(['{"text":"a","length":1}']);
  expect(texts({ text: "a", length: 1 }, "text")).toEqual(["a"]);
  expect(texts({ board: [1] }, "board")).toEqual(["[1]"]);
  expect(texts({})).toEqual([]);
});

test("results of tools are texts, images and errors", () => {
  const image = { type: "image", data: "AQID", mimeType: "image/png" };
  expect(toolContent({ result: { content: [{ type: "text", text: "a" }, image] } }, undefined)).toEqual({
    content: [
      { type: "text", text: "a" },
      { type: "image", mediaType: "image/png", source: { data: Uint8Array.of(1, 2, 3) } },
    ],
    isError: false,
  });
  expect(toolContent({ result: { n: 1 } }, undefined).content).toEqual([{ type: "text", text: '{"n":1}' }]);
  const error = { error_type: "execution_error", message: "no" };
  expect(toolContent({ result: null, error }, undefined)).toEqual({
    content: [{ type: "text", text: "no" }],
    isError: true,
  });
});
