import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { countSymbols, exportedNames } from "../lib/exports.mjs";

/**
 * Most symbols that the packages may export together. A change that needs more names the symbols that it removes. The last 72: `StoredModel` of the spec and
 * `withStoredModels` of the runtime connect the engine that fetches models with the configuration and the command line; `WatchedInputs` of testing watches
 * what the process of `mrlm check` reads; six are the functions and the metadata of `@mrlm/ai-sdk`, which agents of other libraries call; 25 are those of
 * `@mrlm/kit/agent` and `@mrlm/kit/gateway`, by which the policy server and episodes share one form of each API, and `wastedSpans`; twelve
 * are the provision of workspaces: eight types of the spec, its provider, its contract suite, and its options; six run programs in workspaces and write the files of folders there, for
 * environments such as `agent@1` and `harbor@1`; five are the second provider, the two classes that it shares with the first, and the label by which it finds containers of a killed
 * process; one is the names of the root folder that `folders` of a workspace may not have; ten are reward models: `RewardModel` of the spec, `RewardModels` of the
 * runtime, `reward`, and seven of `@mrlm/kit/learning`, with which two algorithms read preferences, and training and use read a score at the same token; fifteen are evaluations as runs: twelve of the runtime name, plan, play,
 * read and compare stored episodes, and state their keys and requirements, `EpisodeTally` scores those of a log of Inspect, and two tables of `@mrlm/ui` are printed and shown; `PageSeat` of it is where a person plays; `tracedRows` reads what production did; `TaskRewards` is a row of the pass rates of tasks; three of
 * `@mrlm/kit/service` make spans in the runtime and the server of environments; nineteen of `@mrlm/process/python` find Pythons and install packages, which the engine had for itself, and
 * `python` is the definition of `python-env@1`, which a plugin takes to check it under its options; two are for `mrlm improve`: the gain that a number of tasks
 * shows, and the search for cheats under options that no fixture has.
 */
const MOST_SYMBOLS = 957;

/** Names that an author meets in `@mrlm/kit`, by the reason why they are there. At most 90: what fewer authors need belongs into another entry. */
const KIT = {
  "every plugin has it as its default export": ["definePlugin", "Plugin", "PluginContext", "PluginExamples", "Factory"],
  "the shortest way to an environment": ["singleTurn", "toolEnvironment"],
  "an environment with turns, agents or players of its own": [
    ...["defineEnvironment", "EnvironmentDefinition", "EnvironmentContext", "SimulatedEnvironment", "ResetOptions"],
    ...["Observation", "Action", "StepResult", "Requirement", "Determinism", "AgentId", "SINGLE_AGENT", "roleOf"],
    ...["observe", "singleStep", "Policy", "Demonstration"],
  ],
  "tasks, generated or from a file": [
    ...["Task", "TaskId", "TaskSource", "generatedTasks", "listedTasks", "taskById", "anyTask"],
    ...["readJsonl", "JsonlRow", "divide", "invalidRow", "randomStream", "RandomStream"],
  ],
  "messages of a conversation": [
    ...["Message", "Part", "TextPart", "ImagePart", "ToolCallPart", "textMessage", "messageText", "toolCalls"],
  ],
  "a reward, and where an answer stands": [
    ...["Reward", "Score", "Unscored", "score", "unscored", "answerPlace", "requestAnswer", "placeAnswer"],
  ],
  "episodes whose outcome is known": ["Fixture", "FixturePolicy", "FixtureRequest", "callMessage"],
  "a tool": [
    ...["tool", "toolError", "toolset", "Tool", "ToolDefinition", "ToolResult", "ToolCallOptions", "Toolset"],
    ...["ToolsetEpisode", "OpenToolset", "callTools", "Places", "unqueued"],
  ],
  "a scorer or a judge": ["Scorer", "ScoreRequest", "Grade", "Judge", "JudgeRequest", "JudgedTurn", "Judgement"],
  "a policy": ["PolicySource", "PolicyEpisode"],
  "a sandbox of the context": ["Sandbox", "SandboxResult", "SandboxSession"],
  "values that every package uses": ["JsonObject", "JsonValue", "isObject", "defined", "Logger", "MrlmError"],
};

test("the packages export at most this number of symbols", () => {
  expect(countSymbols(exportedNames())).toBeLessThanOrEqual(MOST_SYMBOLS);
});

test("@mrlm/kit exports the names of the list, which are at most 90", () => {
  const names = exportedNames().flatMap(({ entry, name }) => (entry === "@mrlm/kit" ? [name] : []));
  expect(names.toSorted()).toEqual(Object.values(KIT).flat().toSorted());
  expect(names.length).toBeLessThanOrEqual(90);
});

test("a symbol of several entries counts once, and defaults do not count", () => {
  const path = mkdtempSync(join(tmpdir(), "mrlm-exports-"));
  try {
    const write = (/** @type {string} */ name, /** @type {string[]} */ ...lines) =>
      writeFileSync(join(path, name), `${lines.join("\n")}\n`);
    write(
      "a.ts",
      "export const one = 1;",
      "export interface Two {}",
      "const hidden = 3;",
      "export async function four() {}",
    );
    write(
      "b.ts",
      "/* export const never = 0; */",
      "// export const nor = 0;",
      "export type Five = 5;",
      "export default 6;",
    );
    write(
      "index.ts",
      'import { four } from "./a.ts";',
      'export { one, type Two as Second } from "./a.ts";',
      'export * from "./b.ts";',
      'export * as names from "./a.ts";',
      "export { four };",
      "export default four;",
    );
    write("more.ts", 'export { one as first, Second } from "@mrlm/sample";', 'export { join } from "node:path";');
    const target = (/** @type {string} */ source) => ({ "mrlm-source": source });
    const exports = { ".": target("index.ts"), "./more": target("more.ts"), "./package.json": "./package.json" };
    const found = exportedNames([{ path, manifest: { name: "@mrlm/sample", exports } }]);
    const of = (/** @type {string} */ entry) => found.flatMap((each) => (each.entry === entry ? [each.name] : []));
    expect(of("@mrlm/sample").toSorted()).toEqual(["Five", "Second", "default", "four", "names", "one"]);
    expect(of("@mrlm/sample/more").toSorted()).toEqual(["Second", "first", "join"]);
    expect(countSymbols(found)).toBe(6);
  } finally {
    rmSync(path, { recursive: true });
  }
});
