// First prompts of eval stand in no task of train, in every built-in environment whose questions stand in the first prompt. The others: nim has the
// same positions in both splits, signals the same meanings, and patients of consultation differ in what they answer.
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import codePlugin from "@mrlm/environment-code";
import debatePlugin from "@mrlm/environment-debate";
import deskPlugin from "@mrlm/environment-desk";
import instructionsPlugin from "@mrlm/environment-instructions";
import mathPlugin from "@mrlm/environment-math";
import researchPlugin from "@mrlm/environment-research";
import toolsPlugin from "@mrlm/environment-tools";
import wordsPlugin from "@mrlm/environment-words";
import judgeRules from "@mrlm/judge-rules";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import sandboxJavascript from "@mrlm/sandbox-javascript";
import sandboxPython from "@mrlm/sandbox-python";
import scorerMath from "@mrlm/scorer-math";
import type { JsonObject } from "@mrlm/spec";
import toolCalculator from "@mrlm/tool-calculator";
import toolFiles from "@mrlm/tool-files";
import toolPython from "@mrlm/tool-python";
import toolWeb from "@mrlm/tool-web";

const { signal } = new AbortController();
const TRAIN = 400;
const EVAL = 100;
let host: LocalHost;

beforeAll(async () => {
  const environments = [
    codePlugin,
    debatePlugin,
    deskPlugin,
    instructionsPlugin,
    mathPlugin,
    researchPlugin,
    toolsPlugin,
    wordsPlugin,
  ];
  const services = [
    judgeRules,
    sandboxJavascript,
    sandboxPython,
    scorerMath,
    toolCalculator,
    toolFiles,
    toolPython,
    toolWeb,
  ];
  host = new LocalHost({ source: await PluginHost.of([...environments, ...services]) });
});

afterAll(() => host.close());

const CASES: readonly (readonly [id: string, options: JsonObject])[] = [
  ["code", {}],
  ["code", { style: "terse", difficulty_range: [1, 1] }],
  ["debate", {}],
  ["desk", {}],
  ["instructions", {}],
  ["instructions", { style: "terse" }],
  ["math", {}],
  ["math", { style: "terse", difficulty_range: [1, 1] }],
  ["research", {}],
  ["tools", {}],
  ["words", {}],
  ["words", { style: "terse", levels: 1 }],
];

test.each(CASES)("D7: no prompt of %s %j in eval stands in train", async (id, options) => {
  const ref = { id, options };
  const { splits } = await host.describe(ref);
  const session = await host.open(ref);
  const prompts = async (split: string, count: number): Promise<string[]> => {
    const found: string[] = [];
    for (let i = 0; i < Math.min(count, splits[split] ?? 0); i++) {
      const { messages, tools: offered } = await session.reset({ task: `${split}/${i}`, signal });
      found.push(JSON.stringify([messages, offered]));
    }
    return found;
  };
  const train = new Set(await prompts("train", TRAIN));
  const held = await prompts("eval", EVAL);
  await session.close();
  expect(held.length).toBeGreaterThan(0);
  expect(held.filter((prompt) => train.has(prompt))).toEqual([]);
});
