import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "@jest/globals";
import {
  callMessage,
  definePlugin,
  generatedTasks,
  type Message,
  type Part,
  score,
  textMessage,
  tool,
  toolEnvironment,
  toolError,
  toolset,
} from "@mrlm/kit";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { z } from "zod";
import { environmentContract, pluginContract } from "../src/index.ts";

const TITLES = ["a", "b", "c"];

/** A shelf that shows one number at a time. Its tools have the state of one episode; one takes a zod schema, one JSON Schema, one no argument. */
const shelf = toolEnvironment({
  id: "shelf@1",
  description: "Read numbers from a shelf, and answer with their sum.",
  maxTurns: 4,
  rewardComponents: ["reads", "counted"],
  rewardRange: [0, 1],
  options: z.strictObject({ greeting: z.string().default("") }),
  tasks: () =>
    generatedTasks({
      seed: 0,
      splits: { train: { size: 50, share: 9 }, eval: { size: 10, share: 1 } },
      generate(random) {
        const numbers = TITLES.map(() => random.integer(0, 99));
        const titles = random.pick([["a", "b"] as const, ["b", "c"] as const]);
        return { public: { titles: [...titles] }, private: { numbers }, key: JSON.stringify([titles, numbers]) };
      },
    }),
  prompt: ({ titles }, { greeting }) => `${greeting}${titles.join("+")}?`,
  state: () => ({ reads: 0 }),
  tools({ task, random, state }) {
    return {
      read: tool({
        description: "Returns the number of a title.",
        parameters: z.strictObject({ title: z.enum(["a", "b", "c"]), plus: z.int().default(0) }),
        execute: ({ title, plus }) => (task.private.numbers[TITLES.indexOf(title)] ?? 0) + plus,
      }),
      find: tool({
        description: "Returns the titles that have a number.",
        parameters: {
          type: "object",
          properties: { number: { type: "integer" } },
          required: ["number"],
          additionalProperties: false,
        },
        execute: ({ number }) => {
          const found = TITLES.filter((_, i) => task.private.numbers[i] === number);
          return found.length === 0 ? toolError("No title has this number.") : { found };
        },
      }),
      count: tool({ description: "Returns how often it was called.", execute: () => String(++state.reads) }),
      draw: tool({
        description: "Returns a number of the episode's own stream.",
        execute: () => random("draw").integer(0, 1_000_000),
      }),
    };
  },
  score(answer, { public: { titles }, private: { numbers } }, { messages, state }) {
    const sum = titles.reduce((total, title) => total + (numbers[TITLES.indexOf(title)] ?? 0), 0);
    const reads = messages.filter(({ role }) => role === "tool").length;
    return score(Number(answer.trim() === String(sum)), { reads, counted: state.reads });
  },
  solve: ({ public: { titles }, private: { numbers } }) => [
    ...titles.map((title, i) => callMessage("read", { title }, String(i))),
    String(titles.reduce((total, title) => total + (numbers[TITLES.indexOf(title)] ?? 0), 0)),
  ],
  fixtures: [
    {
      name: "reads both, then answers",
      kind: "gold",
      task: "eval/0",
      policy: ({ task: { public: shown, private: hidden }, turn }) => {
        const title = shown.titles[turn];
        if (title !== undefined) return callMessage("read", { title });
        return String(shown.titles.reduce((sum, each) => sum + (hidden.numbers[TITLES.indexOf(each)] ?? 0), 0));
      },
      reward: 1,
    },
    { name: "no answer", kind: "nop", task: "train/0", policy: () => "", reward: 0 },
    {
      name: "the titles",
      kind: "cheat",
      task: "train/1",
      policy: ({ task }) => task.public.titles.join("+"),
      reward: 0,
    },
    {
      name: "a tool that does not exist, without end",
      kind: "malformed",
      task: "train/2",
      policy: () => callMessage("browse"),
      reward: 0,
    },
    {
      name: "twice the same",
      kind: "determinism",
      seed: 3,
      policy: ({ turn }) => (turn === 0 ? callMessage("draw") : turn === 1 ? callMessage("count") : "?"),
    },
  ],
});

const plugin = definePlugin({ name: "shelf", environments: [shelf] });
environmentContract({ plugins: [plugin], environment: "shelf@1" });

const text = (messages: readonly Message[]) =>
  messages
    .flatMap(({ parts }) => parts)
    .flatMap((part): readonly Part[] => (part.type === "tool-result" ? part.content : [part]))
    .map((part) => (part.type === "text" ? part.text : part.type))
    .join("\n");
const never = new AbortController().signal;

/** Opens a session of an environment, and starts an episode. */
async function start(...given: Parameters<typeof definePlugin>[0]["environments"] & readonly unknown[]) {
  const host = new LocalHost({ source: await PluginHost.of([definePlugin({ name: "test", environments: given })]) });
  const session = await host.open({ id: (given[0] as { id: string }).id });
  const first = await session.reset({ task: "train/0", signal: never });
  const step = (message: Message, signal = never, finishReason: "stop" | "exhausted" = "stop") =>
    session.step({ agent: "agent", message, finishReason }, { signal });
  return { first, step, session, host };
}

describe("an episode", () => {
  test("the first observation has the tools, as policies read them", async () => {
    const { first } = await start(shelf);
    expect(first.tools?.map(({ name }) => name)).toEqual(["read", "find", "count", "draw"]);
    expect(first.tools?.[0]?.parameters).toEqual({
      type: "object",
      properties: { title: { type: "string", enum: ["a", "b", "c"] }, plus: expect.objectContaining({ default: 0 }) },
      required: ["title"],
      additionalProperties: false,
    });
    expect(first.tools?.[2]?.parameters).toEqual({ type: "object", properties: {}, additionalProperties: false });
  });

  test.each([
    ["a zod schema", callMessage("read", { title: "z" }), /arguments\.title/],
    ["a JSON Schema", callMessage("find", { number: "1" }), /arguments\.number must be integer/],
    ["no parameters", callMessage("count", { n: 1 }), /additional properties \("n"\)/],
  ])("arguments that do not fit %s are a result with an error, and the episode continues", async (_, call, fault) => {
    const { step } = await start(shelf);
    const { observation, terminated, rewards } = await step(call);
    expect(observation.messages[0]?.parts[0]).toMatchObject({ type: "tool-result", isError: true });
    expect(text(observation.messages)).toMatch(fault);
    expect([terminated, rewards]).toEqual([{ agent: false }, {}]);
    // A refused call changes nothing.
    expect(text((await step(callMessage("count"))).observation.messages)).toBe("1");
    expect((await step(textMessage("assistant", "?"))).rewards["agent"]).toMatchObject({ components: { counted: 1 } });
  });

  test("a default of the schema reaches execute; texts, JSON and errors are results", async () => {
    const { step } = await start(shelf);
    const number = Number(text((await step(callMessage("read", { title: "a" }))).observation.messages));
    expect(number).toBeGreaterThanOrEqual(0);
    expect(text((await step(callMessage("find", { number }))).observation.messages)).toMatch(/^\{"found":\["a"/);
    const missing = (await step(callMessage("find", { number: -1 }))).observation.messages;
    expect([text(missing), missing[0]?.parts[0]]).toMatchObject(["No title has this number.", { isError: true }]);
  });

  test("a malformed call is not run, and its fault is the next message", async () => {
    const { step } = await start(shelf);
    const malformed = {
      type: "malformed-call",
      text: "<tool_call>{",
      format: "hermes",
      error: "Open.",
      offset: 0,
    } as const;
    const { observation, terminated } = await step({ role: "assistant", parts: [malformed] });
    expect(text(observation.messages)).toMatch(/malformed and was not run. Open./);
    expect(terminated).toEqual({ agent: false });
  });

  test("the turn limit and a full context end it without a score, and the last calls are not run", async () => {
    const { step, session } = await start(shelf);
    for (const _ of [1, 2, 3]) await step(callMessage("count"));
    const last = await step(callMessage("count"));
    expect([last.truncated, last.rewards, last.observation.messages]).toEqual([{ agent: true }, {}, []]);
    await session.reset({ task: "train/1", signal: never });
    const full = await step({ role: "assistant", parts: [] }, never, "exhausted");
    expect([full.truncated, full.rewards]).toEqual([{ agent: true }, {}]);
  });

  test("each episode has tools with a state of their own", async () => {
    const { step, session } = await start(shelf);
    await step(callMessage("count"));
    await session.reset({ task: "train/0", signal: never });
    expect(text((await step(callMessage("count"))).observation.messages)).toBe("1");
    expect((await step(textMessage("assistant", "?"))).rewards["agent"]).toMatchObject({ components: { counted: 1 } });
  });

  test("the worked solution has the results of its calls; one that fails is refused", async () => {
    const { host } = await start(shelf);
    const [demonstration] = await host.demonstrate({ id: "shelf" }, ["train/0"]);
    expect(demonstration?.messages.map(({ role }) => role)).toEqual([
      ...["user", "assistant", "tool", "assistant", "tool", "assistant"],
    ]);
    const broken = toolEnvironment({
      id: "wrong@1",
      description: "The worked solution calls a tool that does not exist.",
      tasks: shelf.tasks as never,
      prompt: () => "?",
      tools: {},
      score: () => 0,
      solve: () => [callMessage("read", { title: "a" }), "1"],
    });
    const other = await start(broken);
    await expect(other.host.demonstrate({ id: "wrong" }, ["train/0"])).rejects.toMatchObject({ code: "TOOL_FAILED" });
  });
});

describe("faults of tools", () => {
  const simple = (execute: Parameters<typeof tool>[0]["execute"], more: { timeoutMs?: number } = {}) =>
    toolEnvironment({
      id: "faulty@1",
      description: "One tool.",
      tasks: shelf.tasks as never,
      prompt: () => "?",
      tools: { go: tool({ description: "", execute: execute as never, ...more }) },
      score: () => 1,
    });

  test("an error that execute throws leaves the step unscored", async () => {
    const { step } = await start(
      simple(() => {
        throw new Error("the disk is full");
      }),
    );
    const { rewards, truncated } = await step(callMessage("go"));
    expect(rewards["agent"]).toMatchObject({ scored: false, code: "TOOL_FAILED" });
    expect(JSON.stringify(rewards)).toMatch(/Tool go failed: the disk is full/);
    expect(truncated).toEqual({ agent: true });
  });

  test("a result of another form leaves the step unscored", async () => {
    const { step } = await start(simple((() => undefined) as never));
    expect((await step(callMessage("go"))).rewards["agent"]).toMatchObject({ scored: false, code: "TOOL_FAILED" });
  });

  test("a call that takes too long is stopped, its signal is aborted, and the policy reads that", async () => {
    let isAborted = false;
    const { step } = await start(
      simple(
        async (_args, { signal }) => {
          signal.addEventListener("abort", () => (isAborted = true));
          await delay(60_000, undefined, { signal });
          return "never";
        },
        { timeoutMs: 50 },
      ),
    );
    expect(text((await step(callMessage("go"))).observation.messages)).toMatch(/go took longer than 0.05 s/);
    expect(isAborted).toBe(true);
  });

  test("the abort of a step reaches the call", async () => {
    const started = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const { step } = await start(
      simple(async (_args, { signal }) => {
        signal.addEventListener("abort", () => ended.resolve());
        started.resolve();
        await delay(60_000, undefined, { signal });
        return "never";
      }),
    );
    const client = new AbortController();
    const outcome = step(callMessage("go"), client.signal);
    await started.promise;
    client.abort(new Error("gone"));
    await expect(outcome).rejects.toBeDefined();
    await ended.promise;
  });
});

describe("toolsets of plugins", () => {
  const notes = toolset(({ files = {} }) => ({
    read: tool({ description: "Returns the note.", execute: () => String(files["note"]) }),
  }));
  const reading = toolEnvironment({
    id: "reading@1",
    description: "Answer with the note.",
    tasks: () =>
      generatedTasks({
        seed: 0,
        splits: { train: { size: 50, share: 9 }, eval: { size: 10, share: 1 } },
        generate: (random) => {
          const note = String(random.integer(0, 999_999));
          return { public: {}, private: { note }, key: note };
        },
      }),
    prompt: () => "?",
    tools: ["notes@1"],
    files: ({ private: { note } }) => ({ note }),
    score: (answer, { private: { note } }) => Number(answer === note),
  });

  test("are opened with the files of the task, and required from the host", async () => {
    const both = definePlugin({ name: "test", environments: [reading], tools: { "notes@1": () => notes } });
    const session = await new LocalHost({ source: await PluginHost.of([both]) }).open({ id: "reading" });
    await session.reset({ task: "train/0", signal: never });
    const step = (message: Message) =>
      session.step({ agent: "agent", message, finishReason: "stop" }, { signal: never });
    const note = text((await step(callMessage("read"))).observation.messages);
    expect((await step(textMessage("assistant", note))).rewards["agent"]).toMatchObject({ value: 1 });
    const alone = await PluginHost.of([definePlugin({ name: "test", environments: [reading] })]);
    await expect(new LocalHost({ source: alone }).open({ id: "reading" })).rejects.toMatchObject({
      message: expect.stringMatching(/notes@1/) as unknown,
    });
  });

  pluginContract({
    plugins: [
      definePlugin({
        name: "notes",
        tools: { "notes@1": () => notes },
        examples: { tools: { "notes@1": { calls: [{ tool: "read", args: {} }], files: { note: "1" } } } },
      }),
    ],
  });
});

test.each([
  ["no object", z.string(), /describes "string"/],
  ["several objects", z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), /describes "several types"/],
])("parameters that are %s are refused", (_, parameters, fault) => {
  expect(() => tool({ description: "", parameters: parameters as z.ZodType, execute: () => "" })).toThrow(fault);
});
