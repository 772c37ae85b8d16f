import { expect, test } from "@jest/globals";
import { engineThreads, parseConfig } from "../src/index.ts";

const threads = (hidden: number, engine: object = {}, distributed: object = {}) =>
  engineThreads(
    parseConfig(
      JSON.stringify({
        model: { random: { config: { model_type: "qwen2", hidden_size: hidden } } },
        engine,
        distributed,
        stages: [{ algorithm: "sft" }],
        environments: [{ id: "math" }],
      }),
      { path: "/x/run.yaml" },
    ).config,
  );

test("a narrow model gets two lanes of one thread, a wide one what torch chooses, and the configuration has the last word", () => {
  expect([threads(128), threads(256), threads(896)]).toEqual([{ threads: 1, lanes: 2 }, { threads: 1, lanes: 2 }, {}]);
  expect([threads(128, { threads: 1 }), threads(128, { threads: 4 }), threads(896, { threads: 4 })]).toEqual([
    { threads: 1, lanes: 1 },
    { threads: 1, lanes: 4 },
    { threads: 4 },
  ]);
});

test("ranks have one lane each", () => {
  expect([threads(128, {}, { nproc_per_node: 2 }), threads(128, { threads: 3 }, { nproc_per_node: 2 })]).toEqual([
    { threads: 1 },
    { threads: 3 },
  ]);
});
