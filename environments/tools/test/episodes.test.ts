import { expect, test } from "@jest/globals";
import {
  type Action,
  MrlmError,
  type Part,
  type Score,
  type SimulatedEnvironment,
  toolset,
  type StepResult,
  type Tool,
  type Toolset,
} from "@mrlm/kit";
import { tools } from "../src/index.ts";
import { echo, type Prepared, prepare } from "./support/environment.ts";

const { signal } = new AbortController();
const families = { families: ["calculation"], answer_schema: "text" };

const call = (id: string, name: string, text: string): Part => ({ type: "tool-call", id, name, arguments: { text } });
const acting = (...parts: Part[]): Action => ({
  agent: "agent",
  message: { role: "assistant", parts },
  finishReason: "stop",
});

async function start({ context, options }: Prepared): Promise<SimulatedEnvironment> {
  const environment = await tools.create(context, options);
  await environment.reset({ task: "train/0", seed: 1, signal });
  return environment;
}

const valueOf = ({ rewards }: StepResult): number => (rewards["agent"] as Score).value;

test("calls of one turn run at the same time, and their results come in call order", async () => {
  let running = 0;
  let most = 0;
  const slow: Tool = {
    ...echo("calculator"),
    async call({ text }) {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, text === "first" ? 5 : 1));
      running--;
      return { content: [{ type: "text", text: String(text) }], isError: false };
    },
  };
  const environment = await start(await prepare(families, { "calculator@1": toolset([slow]) }));
  const { observation } = await environment.step(
    acting(call("a", "calculator", "first"), call("b", "calculator", "second"), call("c", "nothing", "")),
    { signal },
  );
  const results = observation.messages.flatMap(({ parts }) => parts) as Extract<Part, { type: "tool-result" }>[];
  expect(most).toBe(2);
  expect(results.map(({ id, isError }) => [id, isError])).toEqual([
    ["a", false],
    ["b", false],
    ["c", true],
  ]);
});

test("an episode is truncated in its last turn, whose calls do not run", async () => {
  let calls = 0;
  const counted: Tool = { ...echo("calculator"), call: async () => (calls++, { content: [], isError: false }) };
  const environment = await start(await prepare({ ...families, turns: 2 }, { "calculator@1": toolset([counted]) }));
  const first = await environment.step(acting(call("a", "calculator", "1")), { signal });
  const last = await environment.step(acting(call("b", "calculator", "1"), call("c", "nothing", "1")), { signal });
  expect([first.truncated, last.truncated, last.terminated]).toEqual([
    { agent: false },
    { agent: true },
    { agent: false },
  ]);
  expect([calls, valueOf(last)]).toEqual([1, -0.2]);
});

test("an agent whose context is full ends the episode without an answer", async () => {
  const environment = await start(await prepare(families));
  const step = await environment.step({ ...acting(), finishReason: "exhausted" }, { signal });
  expect([step.truncated, valueOf(step)]).toEqual([{ agent: true }, 0]);
});

test("a failed call of the required tool does not cover it", async () => {
  const prepared = await prepare(families);
  const answer = (await prepared.tasks.get("train", 0)).private["answer"] as string;
  const play = async (text: string): Promise<number> => {
    const environment = await start(prepared);
    await environment.step(acting(call("a", "calculator", text)), { signal });
    return valueOf(await environment.step(acting({ type: "text", text: answer }), { signal }));
  };
  expect([await play("fail"), await play("1+1")]).toEqual([0, expect.closeTo(0.96, 9)]);
});

test("a broken tool makes the step fail as broken, not wrong", async () => {
  const broken: Tool = { ...echo("calculator"), call: () => Promise.reject(new MrlmError("TOOL_FAILED", "gone")) };
  const environment = await start(await prepare(families, { "calculator@1": toolset([broken]) }));
  await expect(environment.step(acting(call("a", "calculator", "1")), { signal })).rejects.toMatchObject({
    code: "TOOL_FAILED",
  });
});

test("tools that a toolset replaces are part of the next observation, and only then", async () => {
  const current: Tool[] = [echo("calculator")];
  const growing: Toolset = {
    open: async () => ({
      get tools() {
        return [...current];
      },
      close: async () => undefined,
    }),
  };
  const environment = await start(await prepare({ ...families, turns: 5 }, { "calculator@1": growing }));
  const unchanged = await environment.step(acting(call("a", "calculator", "1")), { signal });
  current.push(echo("python"));
  const changed = await environment.step(acting(call("b", "calculator", "1")), { signal });
  const after = await environment.step(acting(call("c", "python", "1")), { signal });
  expect([unchanged, changed, after].map(({ observation }) => observation.tools?.map(({ name }) => name))).toEqual([
    undefined,
    ["calculator", "python"],
    undefined,
  ]);
  expect(valueOf(after)).toBe(0);
});

test("files of a task belong to its toolsets, and pages of a site to the web only", async () => {
  const opened: Record<string, string[]> = {};
  const recording = (id: string, ...names: string[]): Toolset => ({
    async open({ files = {} }) {
      opened[id] = Object.keys(files);
      return { tools: names.map(echo), close: async () => undefined };
    },
  });
  const prepared = await prepare(
    { families: ["findings"] },
    {
      "calculator@1": recording("calculator", "calculator"),
      "files@1": recording("files", "read_file"),
      "web@1": recording("web", "search", "fetch"),
    },
  );
  await start(prepared);
  expect(opened["web"]).toEqual(["pages.jsonl"]);
  expect(opened["files"]).toEqual([expect.stringMatching(/^tours\/.*\.txt$/)]);
});

test("a demonstration has the calls, their results and the answer", async () => {
  const { context, options, tasks } = await prepare(families);
  const { private: hidden } = await tasks.get("train", 0);
  const demonstration = await tools.demonstrate?.(context, options, "train/0");
  expect(demonstration?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
  expect(demonstration?.messages.at(-1)?.parts).toEqual([{ type: "text", text: hidden["answer"] }]);
  expect(demonstration?.tools?.map(({ name }) => name)).toEqual(["calculator"]);
});
