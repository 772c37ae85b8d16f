import { expect, test } from "@jest/globals";
import { engineThreads, parseConfig } from "../src/index.ts";

const threads = (hidden: number, engine: object = {}) =>
  engineThreads(parseConfig(JSON.stringify({ model: { random: { config: { model_type: "qwen2", hidden_size: hidden } } }, engine, stages: [{ algorithm: "sft" }], environments: [{ id: "math" }] }), { path: "/x/run.yaml" }).config);

test("a narrow model gets one thread, a wide one what torch chooses, and the configuration has the last word", () => {
  expect([threads(128), threads(256), threads(896), threads(128, { threads: 4 })]).toEqual([1, 1, undefined, 4]);
});
