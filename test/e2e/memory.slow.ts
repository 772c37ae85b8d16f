import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { run } from "./support/mrlm.ts";
import { sharedEngine } from "./support/shared-engine.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { TINY, writeConfig } from "./support/tiny-run.ts";

const directory = temporaryDirectory();
const engine = sharedEngine();
const dryRun = (config: object) =>
  run([
    "train",
    "--config",
    writeConfig(directory, { ...config, engine: engine() }),
    "--output",
    join(directory, "runs"),
    "--dry-run",
  ]);

/** Qwen2.5 of 72 billion parameters: 1.1 TiB of weights, gradients and moments. */
const HUGE = {
  model_type: "qwen2",
  hidden_size: 8192,
  intermediate_size: 29_568,
  num_hidden_layers: 80,
  num_attention_heads: 64,
  num_key_value_heads: 8,
  max_position_embeddings: 32_768,
  vocab_size: 152_064,
  tie_word_embeddings: false,
};

test("--dry-run prints what a run would take, and makes nothing", async () => {
  const { code, stderr } = await dryRun(TINY);
  expect(stderr).toMatch(/^rendered \d+ first prompts of tasks$/m);
  expect(stderr).toMatch(/^memory of \S+, estimated +bytes +from$/m);
  expect(stderr).toMatch(/^all +[\d.]+ MiB +[\d.]+ [GM]iB free \(.+\)$/m);
  expect([code, existsSync(join(directory, "runs"))]).toEqual([0, false]);
}, 120_000);

test("a model that does not fit is refused before anything is made, with exit code 2", async () => {
  const { code, stderr } = await dryRun({ ...TINY, model: { random: { config: HUGE } } });
  expect(stderr).toMatch(
    /^error MEMORY_INSUFFICIENT: \S+ needs about [\d.]+ GiB with one sequence of \d+ tokens at a time/m,
  );
  expect(stderr).toMatch(/model\.lora.*engine\.check_memory: false/);
  expect([code, existsSync(join(directory, "runs"))]).toEqual([2, false]);
}, 120_000);
