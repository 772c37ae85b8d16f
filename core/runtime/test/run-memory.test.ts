import { afterAll, expect, test } from "@jest/globals";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { CreateModelOptions, MemoryEstimate, MemoryWorkload } from "@mrlm/spec/host";
import { BigramEngine } from "@mrlm/testing";
import { estimateRun, MetricsFile, RunDirectory, type RunEvent, trainRun } from "@mrlm/runtime";
import { CONFIG, prepare, removeTemporaryDirectories } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

/** A machine with so many bytes, on which a token of a pass takes 1 MiB and every model 10 MiB. */
class SmallMachine extends BigramEngine {
  readonly workloads: MemoryWorkload[] = [];
  readonly created: CreateModelOptions[] = [];
  readonly #free: number;

  constructor(mebibytes: number) {
    super();
    this.#free = mebibytes * 2 ** 20;
  }

  override async estimateMemory(workload: MemoryWorkload): Promise<MemoryEstimate> {
    this.workloads.push(workload);
    const least = workload.sequenceTokens ?? 0;
    const fixed = 10 * 2 ** 20 * workload.models.length;
    const bytes = (tokens: number): number => fixed + tokens * 2 ** 20;
    const fitting = Math.floor((this.#free - fixed) / 2 ** 20);
    const wantedTokens = Math.max(4096, least);
    const microBatchTokens = fitting < least ? 0 : Math.min(wantedTokens, fitting);
    const lines = [{ model: "policy", part: "weights", bytes: bytes(Math.max(least, microBatchTokens)), formula: "" }];
    const totalBytes = lines[0]?.bytes ?? 0;
    return {
      lines,
      totalBytes,
      availableBytes: this.#free,
      availableFrom: "test",
      microBatchTokens,
      wantedTokens,
      wantedBytes: bytes(wantedTokens),
      leastTokens: least,
      leastBytes: bytes(least),
      fittingSequenceTokens: Math.max(0, Math.min(least, fitting)),
    };
  }

  override async createModel(options: CreateModelOptions) {
    this.created.push(options);
    return super.createModel(options);
  }
}

async function train(
  engine: SmallMachine,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<{ events: RunEvent[]; run: RunDirectory }> {
  const events: RunEvent[] = [];
  const { prepared, host } = await prepare({
    ...CONFIG,
    eval: { tasks: 0 },
    sampling: { max_tokens: 8, concurrency: 3 },
    ...changes,
  });
  const run = RunDirectory.create(prepared.config, prepared.sourceText);
  await trainRun({ prepared, host, engine, run, onEvent: (event) => events.push(event) });
  return { events, run };
}

const record = (run: RunDirectory): { readonly memory?: MemoryEstimate } =>
  JSON.parse(readFileSync(join(run.path, "run.json"), "utf8"));

test("the estimate of a run that fits is reported and recorded, and changes nothing", async () => {
  const engine = new SmallMachine(8000);
  const { events, run } = await train(engine);
  // One for each stage; the second has a reference, and the assumed length is at least 1,024 tokens.
  expect(engine.workloads).toMatchObject([
    { models: [{ model: "policy" }], sampledModels: ["policy"], concurrency: 3, sequenceTokens: 1024 },
    { models: [{ model: "policy" }, { role: "reference" }] },
  ]);
  expect(events.find(({ kind }) => kind === "memory")).toMatchObject({
    memory: { stage: "second", isLowered: false, isLengthStated: false },
  });
  expect(record(run).memory).toMatchObject({ stage: "second", availableBytes: 8000 * 2 ** 20 });
  expect(engine.created[0]?.microBatchTokens).toBeUndefined();
});

test("models that score beside the policies count", async () => {
  const { prepared } = await prepare({ ...CONFIG, eval: { tasks: 0 } });
  const engine = new SmallMachine(8000);
  const scores = { model: "reward-1", role: "reward", trainable: false, valueHead: true } as const;
  await estimateRun(engine, {
    ...prepared,
    rewardModels: [{ ...scores, source: { kind: "directory", path: "scores" } }],
  });
  expect(engine.workloads).toMatchObject([
    { models: [{ model: "policy" }, { model: "reward-1" }], sampledModels: ["policy"] },
    { models: [{ model: "policy" }, { model: "reward-1" }, { role: "reference" }] },
  ]);
});

test("N18: the sequences of the estimate are those that the run can sample at the same time", async () => {
  const sampling = { max_tokens: 8 };
  const stages = [{ algorithm: "reinforce", name: "only", steps: 1, tasks: 3, group_size: 4 }];
  const atOnce = async (changes: object): Promise<number | undefined> => {
    const engine = new SmallMachine(8000);
    await train(engine, { sampling, stages, ...changes });
    return engine.workloads[0]?.concurrency;
  };
  expect(await atOnce({})).toBe(12);
  expect(await atOnce({ eval: { tasks: 4, samples: 5 } })).toBe(20);
  expect(await atOnce({ sampling: { ...sampling, concurrency: 7 } })).toBe(7);
});

test("the token budget is lowered to the largest that fits, with a notice", async () => {
  const engine = new SmallMachine(2020);
  const { events, run } = await train(engine, { sampling: { max_tokens: 8, max_sequence_tokens: 500 } });
  expect(engine.created[0]?.microBatchTokens).toBe(1024);
  // Numerics 52: what a later stage makes from a directory has it too, however often the run was resumed before.
  expect((await run.checkpoints.newest(() => undefined))?.state["microBatchTokens"]).toBe(1024);
  expect(events).toContainEqual({
    kind: "notice",
    text: expect.stringMatching(
      /^model\.micro_batch_tokens is lowered from 4096 to 1024: second would need about 4\.0 GiB, and 2\.0 GiB are free \(test\)\./,
    ),
  });
});

test.each([
  [1600, 500, 1024],
  [2020, 500, 1024],
  [2070, 500, 2048],
  [1500, 1300, 1300],
])(
  "U9: with %i MiB and sequences of %i tokens the budget is %i tokens: a power of two, but at least one sequence",
  async (mebibytes, longest, expected) => {
    const engine = new SmallMachine(mebibytes);
    await train(engine, { sampling: { max_tokens: 8, max_sequence_tokens: longest } });
    expect(engine.created[0]?.microBatchTokens).toBe(expected);
  },
);

test("a run that cannot fit is refused with the missing memory and a hint, unless engine.check_memory is false", async () => {
  const sampling = { max_tokens: 8, max_sequence_tokens: 500 };
  await expect(train(new SmallMachine(320), { sampling })).rejects.toMatchObject({
    code: "MEMORY_INSUFFICIENT",
    message: expect.stringMatching(
      /^second needs about 520 MiB with one sequence of 500 tokens at a time, and 320 MiB are free \(test\): 200 MiB too little\.$/,
    ),
    hint: expect.stringMatching(
      /^Lower sampling\.max_sequence_tokens to 300; set model\.gradient_checkpointing: true; .*engine\.check_memory: false/,
    ),
  });
  const { run, events } = await train(new SmallMachine(320), { sampling, engine: { check_memory: false } });
  expect(existsSync(run.modelPath())).toBe(true);
  expect(events.some(({ kind }) => kind === "memory")).toBe(false);
  expect(new MetricsFile(join(run.path, "metrics.jsonl")).rows().length).toBeGreaterThan(0);
});
