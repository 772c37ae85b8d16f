import { afterAll, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { characterTokenizerFiles } from "@mrlm/kit/renderer";
import type { AverageOptions, CreateModelOptions } from "@mrlm/spec/host";
import { openLocalStore } from "@mrlm/store";
import { BigramEngine } from "@mrlm/testing";
import { openRun, type RunSummary, trainRun } from "@mrlm/runtime";
import { CONFIG, prepare, removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

const [ALPHABET, STEPS] = ["abcdefgh0123456789", 6];

function config(reference_model: object | undefined, changes: object = {}): Readonly<Record<string, unknown>> {
  const stage = { algorithm: "reinforce", steps: STEPS, with_reference: true, learning_rate: 2 };
  return {
    ...CONFIG,
    stages: [{ ...stage, ...(reference_model === undefined ? {} : { reference_model }), ...changes }],
    eval: { tasks: 0 },
    checkpoint: { every: 1, keep: 9 },
  };
}

/** Records the calls that concern the reference. */
class Recorder extends BigramEngine {
  readonly calls: string[] = [];

  override async createModel(options: CreateModelOptions) {
    if (options.role === "reference") this.calls.push(`${options.source.kind} ${options.model}`);
    return super.createModel(options);
  }

  override async average(options: AverageOptions): Promise<void> {
    this.calls.push(`average ${options.model} of ${options.of} at ${options.decay}`);
    return super.average(options);
  }
}

async function train(
  given: Readonly<Record<string, unknown>>,
  extra: Partial<Parameters<typeof trainRun>[0]> = {},
): Promise<{ summary: RunSummary; weights: Buffer; calls: readonly string[] }> {
  const engine = new Recorder();
  const { prepared, host } = await prepare(given);
  const summary = await trainRun({ prepared, host, engine, openStore: openLocalStore, ...extra });
  const weights = readFileSync(join(summary.directory, "model", "weights.bin"));
  return { summary, weights, calls: engine.calls };
}

/** Trains, stops after a step, and resumes in a new engine. */
async function resumed(step: number, given: Readonly<Record<string, unknown>>): Promise<Buffer> {
  const drain = new AbortController();
  const stopped = await trainRun({
    ...(await prepare(given)),
    engine: new BigramEngine(),
    openStore: openLocalStore,
    drain: drain.signal,
    onEvent: (event) => event.kind === "iteration" && event.step === step && drain.abort(),
  });
  const { run, checkpoint } = await openRun(stopped.directory, () => undefined);
  return (await train(given, { run, ...(checkpoint === undefined ? {} : { checkpoint }) })).weights;
}

/** Writes a model of the engine of the tests with other weights than the policy. */
async function otherModel(alphabet = ALPHABET): Promise<string> {
  const directory = join(temporaryDirectory(), "other");
  const engine = new BigramEngine();
  const tokenizerFiles = characterTokenizerFiles({ alphabet });
  const settings = { vocab_size: alphabet.length + 20, initializer_range: 1 };
  await engine.createModel({
    model: "other",
    role: "policy",
    trainable: true,
    source: { kind: "random", seed: 99, config: settings, tokenizerFiles },
  });
  await engine.export("other", directory);
  return directory;
}

test("the reference becomes the policy after each `reset_every` iterations, and a resumed run has the same bits", async () => {
  const given = config({ reset_every: 2 });
  const { weights, calls } = await train(given);
  expect(calls).toEqual(Array.from({ length: 1 + STEPS / 2 }, () => "copy reference-0"));
  expect(weights).not.toEqual((await train(config(undefined))).weights);
  for (const step of [2, 3]) expect(await resumed(step, given)).toEqual(weights);
});

test("the reference averages the weights after each iteration, and a resumed run has the same bits", async () => {
  const given = config({ ema: 0.5 });
  const { weights, calls } = await train(given);
  expect(calls).toEqual(["copy reference-0", ...Array(STEPS).fill("average reference-0 of policy at 0.5")]);
  expect(weights).not.toEqual((await train(config(undefined))).weights);
  expect(weights).not.toEqual((await train(config({ ema: 0.9 }))).weights);
  for (const step of [1, 4]) expect(await resumed(step, given)).toEqual(weights);
});

test("a reference of a directory is not the policy, and a resumed run has the same bits", async () => {
  const path = await otherModel();
  const given = config({ path });
  const { weights, calls } = await train(given);
  expect(calls).toEqual(["directory reference-0"]);
  expect(weights).not.toEqual((await train(config(undefined))).weights);
  expect(await resumed(3, given)).toEqual(weights);
  const both = await train(config({ path, reset_every: 3 }));
  expect(both.calls).toEqual(["directory reference-0", "copy reference-0", "copy reference-0"]);
});

test("the memory estimate has the reference that the run makes", async () => {
  const path = await otherModel();
  const { prepared } = await prepare(config({ path }));
  let planned: readonly CreateModelOptions[] = [];
  const engine = new (class extends BigramEngine {
    override async estimateMemory(workload: Parameters<BigramEngine["estimateMemory"]>[0]) {
      planned = workload.models;
      return super.estimateMemory(workload);
    }
  })();
  await trainRun({ ...(await prepare(config({ path }))), prepared, engine, openStore: openLocalStore });
  expect(planned.map(({ model, source }) => [model, source.kind])).toEqual([
    ["policy", "random"],
    ["reference-0", "directory"],
  ]);
});

test.each([
  ["unused", { ema: 0.5 }, { with_reference: false }, /reference_model has no effect: reinforce/],
  ["both", { ema: 0.5, reset_every: 2 }, {}, /both `reset_every` and `ema`/],
  ["empty", {}, {}, /reference_model is empty/],
  ["decay", { ema: 1 }, {}, /ema/],
  ["count", { reset_every: 0 }, {}, /reset_every/],
  ["key", { decay: 0.5 }, {}, /decay/],
])("refuses a reference that cannot hold: %s", async (_, reference, changes, message) => {
  const wrong = prepare(config(reference, changes));
  await expect(wrong).rejects.toThrow(message);
  await expect(wrong).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});

test("refuses an average of adapters, and a directory that is missing or has another tokenizer", async () => {
  const adapted = { ...config({ ema: 0.5 }), model: { ...CONFIG.model, lora: { rank: 2, alpha: 4 } } };
  await expect(prepare(adapted)).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringMatching(/adapters' factors/),
  });
  await expect(prepare(config({ path: "/missing" }))).rejects.toMatchObject({ code: "MODEL_DIRECTORY_MISSING" });
  const path = await otherModel("hgfedcba0123456789");
  await expect(prepare(config({ path }))).rejects.toMatchObject({
    code: "TOKENIZER_MISMATCH",
    message: expect.stringMatching(/id \d+ of the policy is "a", and the model has "h"/),
  });
});

test("a checkpoint is a reference", async () => {
  const { summary } = await train(config(undefined, { steps: 2 }));
  const { prepared } = await prepare(config({ path: join(summary.directory, "checkpoints", "00000001-0") }));
  const { learners } = prepared.config.stages[0] as (typeof prepared.config.stages)[number];
  expect(learners["policy"]?.reference_model?.path).toMatch(/model$/);
});
