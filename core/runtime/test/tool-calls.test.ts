import { afterAll, describe, expect, test } from "@jest/globals";
import { join } from "node:path";
import { callTools, observe, singleStep, textMessage } from "@mrlm/kit";
import { fromChatTools, parseRecordedRow, toRecordedRows } from "@mrlm/kit/learning";
import { characterTokenizerFiles, chatRenderer, loadTokenizer } from "@mrlm/kit/renderer";
import { type Message, type Part, score, type TokenSpan, type Tool, type Trajectory } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import { recordedColumns } from "../src/collection/columns.ts";
import { ParquetFile, readParquet } from "../src/collection/parquet.ts";
import { counterEnvironment } from "./support/counter-environment.ts";
import { bigramEngine, collect, localHost, runner } from "./support/rollouts.ts";
import { removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

const TEMPLATE =
  "{% if tools %}{{ '<|system|>' + (tools | tojson) + '<|end|>' }}{% endif %}{% for message in messages %}{{ '<|' + message.role + '|>' + (message.content or '') }}" +
  `{% for call in message.tool_calls or [] %}{{ '<tool_call>{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}</tool_call>' }}{% endfor %}` +
  "{{ '<|end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}";

const tokenizerFiles = {
  ...characterTokenizerFiles({ tags: ["<tool_call>", "</tool_call>"] }),
  "chat_template.jinja": new TextEncoder().encode(TEMPLATE),
};
const renderer = chatRenderer({ tokenizerFiles, eosTokenIds: [] });
const tokenizer = loadTokenizer(tokenizerFiles);

const add = (a: number, b: number): string =>
  `<tool_call>{"name": "add", "arguments": {"a": ${a}, "b": ${b}}}</tool_call>`;
/** Answers of the policy, by turn. */
const ANSWERS = [`${add(1, 2)}${add(3, 4)}`, `So:${add(1, 2)}<tool_call>{"name": oops}</tool_call>`, add(5, 6), "done"];

/** Returns an engine whose sampler writes the answers. */
async function writer(): Promise<Engine> {
  const inner = await bigramEngine();
  const sample = async ({ prompt }: { readonly prompt: Int32Array }) => {
    const turn = renderer.decode(prompt).split("<|assistant|>").length - 2;
    const tokens = tokenizer.encode(`${ANSWERS[turn]}<|end|>`);
    const logprobs = new Float32Array(tokens.length).fill(-1);
    return { tokens, logprobs, versions: new Int32Array(tokens.length), stopReason: "stop" as const };
  };
  return new Proxy<Engine>(inner, {
    get: (target, property) =>
      property !== "sampler"
        ? Reflect.get(target, property)?.bind(target)
        : async () => ({ sample, barrier: async () => undefined, close: async () => undefined }),
  });
}

const tool = (name: string): Tool => ({
  name,
  description: "Adds.",
  parameters: { type: "object" },
  call: async ({ a, b }) => ({ content: [{ type: "text", text: String(Number(a) + Number(b)) }], isError: false }),
});

/** Environment that offers a second tool in its third turn. */
const calculator = counterEnvironment({
  create: () => {
    let turn = 0;
    return {
      reset: async () => ((turn = 0), observe([textMessage("user", "go")], { tools: [definition(tool("add"))] })),
      step: async ({ message }, { signal }) => {
        const messages = await callTools([tool("add")], message, { signal });
        const terminated = ++turn === ANSWERS.length;
        const step = singleStep({ messages, reward: score(1), terminated });
        const tools = ["add", "sub"].map((name) => definition(tool(name)));
        return turn === 2 ? { ...step, observation: observe(messages, { tools }) } : step;
      },
    };
  },
});

function definition({ name, description, parameters }: Tool) {
  return { name, description, parameters };
}

async function play(): Promise<readonly Trajectory[]> {
  const options = { host: await localHost(calculator), engine: await writer(), renderer: () => renderer };
  const [group] = await collect(await runner({ ...options, tokenLimit: () => 4096 }), {
    tasks: ["train/0"],
    groupSize: 2,
    sampling: { temperature: 1, maxTokens: 500 },
  });
  return group?.trajectories ?? [];
}

describe("an episode with tool calls", () => {
  const played = play();
  const parts = async (): Promise<Part[]> =>
    (await played)[0]?.turns.flatMap(({ messages, response }) =>
      [...messages, response].flatMap((each) => each.parts),
    ) ?? [];

  test("shows calls, malformed calls and results to both sides", async () => {
    const call = { type: "tool-call", id: expect.stringMatching(/^[A-Za-z0-9]{9}$/), name: "add" };
    const result = (text: string) => ({ type: "tool-result", name: "add", content: [{ type: "text", text }] });
    const text = '<tool_call>{"name": oops}</tool_call>';
    expect((await played)[0]?.error).toBeUndefined();
    expect(await parts()).toMatchObject([
      { type: "text", text: "go" },
      call,
      call,
      result("3"),
      result("7"),
      { type: "text", text: "So:" },
      call,
      { type: "malformed-call", text, format: "hermes", offset: 20 },
      result("3"),
      { type: "text", text: expect.stringContaining("malformed") },
      call,
      result("11"),
      { type: "text", text: "done" },
    ]);
  });

  test("has call ids that are unique, and equal when it is played again", async () => {
    const ids = (trajectory: Trajectory | undefined): string[] =>
      (trajectory?.turns ?? []).flatMap(({ response }) =>
        response.parts.flatMap((part) => (part.type === "tool-call" ? [part.id] : [])),
      );
    const [first, second] = await played;
    expect(new Set(ids(first)).size).toBe(4);
    expect(ids(second)).toEqual(ids(first));
    expect((await play()).map(ids)).toEqual([ids(first), ids(first)]);
    const results = (await parts()).flatMap((part) => (part.type === "tool-result" ? [part.id] : []));
    expect(results).toEqual(ids(first));
  });

  test("numerics 27, 28, 29: is learnt from exactly the sampled tokens; a change of the tools begins a segment with all of them", async () => {
    const trajectory = (await played)[0] as Trajectory;
    const segments = trajectory.agents["agent"]?.segments ?? [];
    expect(segments.map(({ parent }) => parent)).toEqual([null, 0]);
    const offered = trajectory.turns.map(({ tools }) => tools?.map(({ name }) => name));
    expect(offered).toEqual([["add"], undefined, ["add", "sub"], undefined]);
    let history: readonly Message[] = [];
    const chosen = segments.map(({ tokens }) => new Uint8Array(tokens.length));
    for (const [i, { messages, response, tokens }] of trajectory.turns.entries()) {
      const { segment: at, start, end } = tokens as TokenSpan;
      const segment = segments[at];
      history = [...history, ...messages];
      expect(at).toBe(i < 2 ? 0 : 1);
      expect(renderer.decode(segment?.tokens.slice(start, end) as Int32Array)).toBe(`${ANSWERS[i]}<|end|>`);
      const names = i < 2 ? ["add"] : ["add", "sub"];
      const prompt = renderer.render(
        history,
        names.map((name) => definition(tool(name))),
      ).tokens;
      expect(segment?.tokens.slice(0, start)).toEqual(prompt);
      chosen[at]?.fill(1, start, end);
      history = [...history, response];
    }
    expect(segments.map(({ mask }) => mask)).toEqual(chosen);
  });

  test("is recorded with its tools and malformed calls, also in Parquet", async () => {
    const [row] = toRecordedRows((await played)[0] as Trajectory, () => renderer.fingerprint);
    const path = join(temporaryDirectory(), "rows.parquet");
    const file = new ParquetFile(path, recordedColumns([]), {});
    await file.write([row ?? {}]);
    await file.close();
    const [read] = (await readParquet(path)).map((value) => parseRecordedRow(value, "rows.parquet:1"));
    const last = ["add", "sub"].map((name) => definition(tool(name)));
    for (const recorded of [row, read]) {
      expect(fromChatTools(recorded?.tools ?? [])).toEqual(last);
      expect(recorded?.messages.flatMap(({ malformed_calls }) => malformed_calls ?? [])).toEqual([
        {
          at: 3,
          text: '<tool_call>{"name": oops}</tool_call>',
          format: "hermes",
          error: expect.any(String),
          offset: 20,
        },
      ]);
    }
  });
});
