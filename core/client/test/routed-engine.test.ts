import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, describe, expect, test } from "@jest/globals";
import type { CreateModelOptions, Engine, MemoryWorkload } from "@mrlm/spec/host";
import { BigramEngine } from "@mrlm/testing";
import type { EngineRoute } from "../src/engine/routed-engine.ts";
import { routedEngine } from "../src/index.ts";

const folder = mkdtempSync(join(tmpdir(), "mrlm-routed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const policy = (model: string): CreateModelOptions => ({
  model,
  role: "policy",
  trainable: true,
  source: {
    kind: "random",
    config: { vocab_size: 7, eos_token_id: 6, initializer_range: 1 },
    seed: model.length,
    tokenizerFiles: {},
  },
});
const copy = (model: string, of: string): CreateModelOptions => ({
  model,
  role: "reference",
  trainable: false,
  source: { kind: "copy", of },
});

/** Two engines, of which the second has the model `bob`. */
function twoEngines(changes: { readonly first?: Partial<EngineRoute>; readonly second?: Partial<EngineRoute> } = {}) {
  const [first, second] = [new BigramEngine(), new BigramEngine()];
  const routes = [
    { name: "main", engine: first, models: [], ...changes.first },
    { name: "second", engine: second, models: ["bob"], ...changes.second },
  ];
  return { first, second, engine: routedEngine(routes) };
}

const held = async (engine: Engine): Promise<string[]> =>
  (await engine.describe()).models.map(({ model }) => model).toSorted();
const UNITS = [{ sequences: [{ tokens: Int32Array.of(1, 2, 3), mask: Uint8Array.of(0, 1, 1) }] }];

describe("two engines behind one", () => {
  test("a model is where its route states, and a copy where its original does", async () => {
    const { engine, first, second } = twoEngines();
    for (const model of ["alice", "bob"]) await engine.createModel(policy(model));
    await engine.createModel(copy("of-bob", "bob"));
    await engine.createModel(copy("of-alice", "alice"));
    expect(await held(first)).toEqual(["alice", "of-alice"]);
    expect(await held(second)).toEqual(["bob", "of-bob"]);
    const info = await engine.describe();
    expect(info.models).toHaveLength(4);
    expect(info).toMatchObject({ device: "cpu", deterministic: true, worldSize: 2, versions: { torch: "none" } });
    const ids = await Promise.all([first, second].map(async (each) => (await each.describe()).instanceId));
    expect(info.instanceId).toBe(ids.join("+"));
    await expect(engine.average({ model: "of-alice", of: "bob", decay: 0 })).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      message: '"of-alice" is to follow "bob", and they are on two engines.',
    });
    const apart = twoEngines({ second: { models: ["bob", "of-alice"] } }).engine;
    await apart.createModel(policy("alice"));
    await expect(apart.createModel(copy("of-alice", "alice"))).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
      message: expect.stringContaining('its original is on "main"'),
    });
  });

  test("a client finds the models that another one created, and the other ones that a stage adds", async () => {
    const { engine, first, second } = twoEngines();
    await second.createModel(policy("bob"));
    expect(await engine.forward({ model: "bob", units: UNITS, outputs: { logprob: true } })).toHaveLength(1);
    await first.createModel(policy("frozen"));
    expect(await engine.readTokenizer("frozen")).toEqual({});
    await expect(engine.publish("unknown")).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
  });

  test("a model of an earlier run on another engine is released with its namesake, and never used", async () => {
    const { engine, first, second } = twoEngines();
    await first.createModel({ ...policy("bob"), role: "critic" });
    await engine.createModel(policy("bob"));
    expect((await engine.describe()).models).toMatchObject([{ model: "bob", role: "policy" }]);
    await engine.releaseModel("bob");
    expect([await held(first), await held(second)]).toEqual([[], []]);
  });

  test("memory is estimated by device, and the smallest token budget counts", async () => {
    const asked: MemoryWorkload[] = [];
    const fitting = (budget: number) =>
      Object.assign(new BigramEngine(), {
        async estimateMemory(workload: MemoryWorkload) {
          asked.push(workload);
          const estimate = await new BigramEngine().estimateMemory(workload);
          return { ...estimate, microBatchTokens: budget, wantedTokens: 64 };
        },
      });
    const workload = {
      models: [policy("alice"), policy("bob"), copy("of-bob", "bob")],
      sampledModels: ["alice", "bob"],
      concurrency: 4,
    };
    const apart = twoEngines({ first: { engine: fitting(64) }, second: { engine: fitting(16) } }).engine;
    expect(await apart.estimateMemory(workload)).toMatchObject({
      engine: "engine second",
      microBatchTokens: 16,
      lines: [{ model: "bob" }, { model: "of-bob" }],
      others: [{ engine: "engine main", microBatchTokens: 64, lines: [{ model: "alice" }] }],
    });
    expect(asked.map(({ sampledModels }) => sampledModels)).toEqual([["alice"], ["bob"]]);
    const memory = "cpu";
    const shared = twoEngines({ first: { engine: fitting(64), memory }, second: { engine: fitting(16), memory } });
    const joint = await shared.engine.estimateMemory(workload);
    expect(joint).toMatchObject({ engine: "engines main and second", microBatchTokens: 64 });
    expect([joint.lines.length, joint.others]).toEqual([3, undefined]);
  });
});

describe("a checkpoint of two engines", () => {
  /** Saves two trained models, and returns the directory with the checksums of their next publication. */
  async function saved(name: string) {
    const { engine } = twoEngines();
    for (const model of ["alice", "bob"]) await engine.createModel(policy(model));
    const directory = join(folder, name);
    await train(engine);
    await engine.save(directory);
    return { directory, checksums: await train(engine) };
  }

  /** Runs a step of both models. @returns the checksums of their weights */
  async function train(engine: Engine): Promise<string[]> {
    const checksums: string[] = [];
    for (const model of ["alice", "bob"]) {
      const loss = [{ logprob: Float32Array.of(-1, -1) }];
      await engine.forwardBackward({ model, units: UNITS, outputs: { logprob: true }, normalizer: 1, loss });
      await engine.optimStep({ model, learningRate: 0.1 });
      checksums.push((await engine.publish(model)).checksum);
    }
    return checksums;
  }

  test("has a directory for each engine and a manifest, from which new engines continue with the same bits", async () => {
    const { directory, checksums } = await saved("whole");
    expect(readdirSync(directory).toSorted()).toEqual(["engines.json", "main", "second"]);
    const { engine, second } = twoEngines();
    expect((await engine.load(directory)).map(({ model }) => model)).toEqual(["alice", "bob"]);
    expect(await held(second)).toEqual(["bob"]);
    expect(await train(engine)).toEqual(checksums);
  });

  test("is not loaded by engines with other models, nor without its manifest", async () => {
    const { directory } = await saved("routes");
    const none = routedEngine([{ name: "main", engine: new BigramEngine(), models: [] }]);
    await expect(none.load(directory)).rejects.toMatchObject({
      code: "CHECKPOINT_MISMATCH",
      message: `${directory} has models of the engine "second" (bob), which the run does not have.`,
    });
    await expect(twoEngines({ second: { models: ["alice"] } }).engine.load(directory)).rejects.toMatchObject({
      code: "CHECKPOINT_MISMATCH",
      message: `${directory} has the model "alice" on the engine "main", and the run has it on another one.`,
    });
    rmSync(join(directory, "engines.json"));
    await expect(twoEngines().engine.load(directory)).rejects.toMatchObject({ code: "CHECKPOINT_INCOMPLETE" });
  });

  test("does not appear when one engine cannot save", async () => {
    const full = Object.assign(new BigramEngine(), { save: () => Promise.reject(new Error("no space")) });
    let isWritten = false;
    const slow = Object.assign(new BigramEngine(), {
      async save(directory: string) {
        await setImmediate();
        mkdirSync(directory, { recursive: true });
        isWritten = true;
        return { bytes: 0, checksum: "" };
      },
    });
    const { engine } = twoEngines({ first: { engine: slow }, second: { engine: full } });
    for (const model of ["alice", "bob"]) await engine.createModel(policy(model));
    await expect(engine.save(join(folder, "full"))).rejects.toThrow("no space");
    expect(isWritten).toBe(true);
    expect(existsSync(join(folder, "full")) || existsSync(join(folder, "full.partial"))).toBe(false);
  });
});
