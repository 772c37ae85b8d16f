import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import type { JsonObject, OpenToolset, Tool, ToolResult, Toolset, ToolsetEpisode } from "@mrlm/spec";
import { toolset } from "@mrlm/kit";
import { toolContract } from "../src/index.ts";
import type { ToolContractOptions } from "../src/tool-contract/tool-contract.ts";

const text = (value: string): ToolResult => ({ content: [{ type: "text", text: value }], isError: false });

const empty: JsonObject = { type: "object", properties: {}, additionalProperties: false };

/** A counter of the episode and a die of its seed. */
function counter(change: (tools: Tool[], episode: ToolsetEpisode) => void = () => undefined): Toolset {
  return {
    async open(episode): Promise<OpenToolset> {
      let total = 0;
      const die = episode.random("die");
      const tools: Tool[] = [
        {
          name: "add",
          description: "Adds an integer to the total.",
          parameters: {
            type: "object",
            properties: { n: { type: "integer" } },
            required: ["n"],
            additionalProperties: false,
          },
          call: async ({ n }) => text(String((total += Number(n)))),
        },
        { name: "total", description: "Returns the total.", parameters: empty, call: async () => text(String(total)) },
        {
          name: "roll",
          description: "Rolls a die.",
          parameters: empty,
          call: async (_args, { signal }) => {
            await delay(1, undefined, { signal });
            return text(String(die.integer(1, 1_000_000)));
          },
        },
      ];
      change(tools, episode);
      return { tools, close: async () => undefined };
    },
  };
}

const options: Omit<ToolContractOptions, "make"> = {
  name: "a counter",
  calls: [
    { tool: "add", args: { n: 2 } },
    { tool: "total", args: {} },
    { tool: "roll", args: {} },
  ],
  state: { change: { tool: "add", args: { n: 1 } }, read: { tool: "total", args: {} } },
  episodes: 4,
};

toolContract({ ...options, make: () => counter() });

/** Returns the names of the tests that a toolset fails. */
async function failuresOf(make: ToolContractOptions["make"]): Promise<string[]> {
  const tests: [string, () => Promise<void>][] = [];
  const registry = {
    describe: (_name: string, body: () => void) => body(),
    test: (name: string, body: () => Promise<void>) => void tests.push([name, body]),
  };
  toolContract({ ...options, make, registry, timeoutMs: 400 });
  const failed: string[] = [];
  for (const [name, body] of tests) await body().catch(() => failed.push(name));
  return failed;
}

/** Replaces a member of the first tool. */
const withTool = (change: Partial<Tool>): Toolset =>
  counter((tools) => tools.splice(0, 1, { ...tools[0], ...change } as Tool));

test("faults of definitions fail their checks", async () => {
  expect(await failuresOf(() => withTool({ description: "" }))).toEqual(["names and describes each tool"]);
  const misspelt = { type: "object", propertees: {}, required: ["n"] };
  expect(await failuresOf(() => withTool({ parameters: misspelt }))).toContain(
    "has JSON Schemas of arguments that compile in strict mode and describe each argument",
  );
  const announces = { ...counter(), definitions: [] };
  expect(await failuresOf(() => announces)).toEqual(["has the tools that it announces, in every episode"]);
});

test("shared state and unseeded results fail the checks of episodes", async () => {
  let total = 0;
  const shared = counter((tools) => {
    const [add, read] = tools as [Tool, Tool];
    tools.splice(
      0,
      2,
      { ...add, call: async ({ n }) => text(String((total += Number(n)))) },
      { ...read, call: async () => text(String(total)) },
    );
  });
  expect(await failuresOf(() => shared)).toEqual([
    "keeps the state of an episode from all others",
    "repeats an episode with the same seed",
  ]);
  const lucky = counter((tools) =>
    tools.splice(2, 1, { ...(tools[2] as Tool), call: async () => text(String(Math.random())) }),
  );
  expect(await failuresOf(() => lucky)).toEqual(["repeats an episode with the same seed"]);
  expect(await failuresOf(() => ({ ...lucky, determinism: "none" as const }))).toEqual([]);
});

test("a tool that is broken for some arguments fails", async () => {
  const failing = withTool({ call: async () => ({ content: [], isError: true }) });
  expect(await failuresOf(() => failing)).toContain("answers each sample call");
  const rejecting = withTool({ call: () => Promise.reject(new Error("broken")) });
  expect(await failuresOf(() => rejecting)).toContain("answers each sample call");
});

test("files and handles that remain are found", async () => {
  let count = 0;
  const leaky = (directory: string): Toolset => {
    const inner = counter();
    return {
      async open(episode) {
        await writeFile(join(directory, `episode-${count++}`), "");
        return inner.open(episode);
      },
    };
  };
  const failed = await failuresOf(leaky);
  expect(failed).toContain("opens and closes many episodes at once, and keeps nothing of them");
  expect(failed).toContain("closing it leaves no process, handle or file");
});

test("tools without state need no sample of it", async () => {
  const { tools } = await counter().open({
    seed: 1,
    signal: new AbortController().signal,
    random: () => ({ integer: () => 1 }) as never,
  });
  const names: string[] = [];
  toolContract({
    name: "stateless",
    make: () => toolset([...tools]),
    calls: options.calls,
    registry: { describe: (_name, body) => body(), test: (name) => void names.push(name) },
  });
  expect(names).not.toContain("keeps the state of an episode from all others");
});
