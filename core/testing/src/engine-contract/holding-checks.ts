import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EngineUnit } from "@mrlm/spec";
import type { Engine } from "@mrlm/spec/host";
import { expectCode } from "../contract/expect-code.ts";
import { ALL_OUTPUTS, type EngineCheck, UNITS, assertRatio, gradientOf, normOf } from "./engine-subject.ts";

/** Checks of models: creation, copies, checkpoints and refused calls. */
export const holdingChecks: readonly EngineCheck[] = [
  {
    name: "describes the models that it holds",
    run: async ({ engine, model }) => {
      const { models, instanceId } = await engine.describe();
      const info = models.find((each) => each.model === model.model);
      assert(instanceId !== "");
      assert.deepEqual([info?.role, info?.step, info?.hasValueHead], [model.role, 0, true]);
      assert((info?.vocabSize ?? 0) >= 8 && (info?.trainableParameters ?? 0) > 0);
    },
  },
  {
    name: "returns the tokenizer of a model to any client",
    run: async ({ engine, model }) => {
      const tokenizerFiles = { "tokenizer.json": Uint8Array.of(123, 125) };
      assert(model.source.kind === "random");
      await engine.createModel({ ...model, model: "other", source: { ...model.source, tokenizerFiles } });
      assert.deepEqual(await engine.readTokenizer("other"), tokenizerFiles);
      assert.deepEqual(await engine.readTokenizer(model.model), model.source.tokenizerFiles);
      await expectCode(engine.readTokenizer("unknown"), "MODEL_NOT_FOUND");
    },
  },
  {
    name: "estimates the memory of models before it creates them",
    run: async ({ engine, model }) => {
      const before = (await engine.describe()).models.length;
      const copy = {
        model: "reference",
        role: "reference",
        source: { kind: "copy", of: "planned" },
        trainable: false,
      } as const;
      const estimate = await engine.estimateMemory({
        models: [{ ...model, model: "planned" }, copy],
        sampledModels: ["planned"],
        concurrency: 4,
        sequenceTokens: 8,
      });
      assert.equal((await engine.describe()).models.length, before);
      assert.equal(
        estimate.totalBytes,
        estimate.lines.reduce((sum, { bytes }) => sum + bytes, 0),
      );
      assert(estimate.lines.some((line) => line.model === "planned" && line.part === "weights" && line.bytes > 0));
      assert(estimate.microBatchTokens <= estimate.wantedTokens && estimate.leastBytes <= estimate.wantedBytes);
    },
  },
  {
    name: "a frozen copy keeps its weights, and cannot be trained",
    run: async ({ engine, model: { model } }) => {
      await engine.createModel({
        model: "reference",
        role: "reference",
        source: { kind: "copy", of: model },
        trainable: false,
      });
      const logprobs = async (id: string): Promise<unknown> =>
        engine.forward({ model: id, units: UNITS, outputs: { logprob: true } });
      const before = await logprobs("reference");
      assert.deepEqual(before, await logprobs(model));
      await step(engine, model);
      assert.deepEqual(await logprobs("reference"), before);
      assert.notDeepEqual(await logprobs(model), before);
      await expectCode(
        engine.forwardBackward({
          model: "reference",
          units: UNITS,
          outputs: { logprob: true },
          normalizer: 1,
          loss: () => ({}),
        }),
        "NOT_TRAINABLE",
      );
      await engine.releaseModel("reference");
      await expectCode(
        engine.forward({ model: "reference", units: UNITS, outputs: { logprob: true } }),
        "MODEL_NOT_FOUND",
      );
    },
  },
  {
    name: "averages the weights of a frozen model with those of another",
    run: async ({ engine, model: options }) => {
      const { model } = options;
      const logprobs = async (id: string): Promise<Float32Array> => {
        const outputs = await engine.forward({ model: id, units: UNITS, outputs: { logprob: true } });
        return Float32Array.from(outputs.flatMap(({ logprob = [] }) => Array.from(logprob)));
      };
      const copy = { role: "reference", source: { kind: "copy", of: model }, trainable: false } as const;
      for (const each of ["average", "before"]) await engine.createModel({ ...copy, model: each });
      await step(engine, model);
      await engine.average({ model: "average", of: model, decay: 0.5 });
      const [between, before, after] = [await logprobs("average"), await logprobs("before"), await logprobs(model)];
      assert.notDeepEqual(between, before);
      assert.notDeepEqual(between, after);
      // One average of half of each is the same whichever of both is moved.
      await engine.createModel({ ...copy, model: "mirror" });
      await engine.average({ model: "mirror", of: "before", decay: 0.5 });
      const mirrored = await logprobs("mirror");
      between.forEach((value, i) => assert(Math.abs(value - (mirrored[i] as number)) < 1e-5));
      await engine.average({ model: "average", of: model, decay: 0 });
      assert.deepEqual(await logprobs("average"), after);
      for (const [into, of, decay] of [
        ["average", model, 1],
        ["average", model, Number.NaN],
        [model, "average", 0.5],
      ] as const)
        await expectCode(engine.average({ model: into, of, decay }), "OPTIONS_INVALID");
      await expectCode(engine.average({ model: "average", of: "unknown", decay: 0 }), "MODEL_NOT_FOUND");
      for (const each of ["average", "before", "mirror"]) await engine.releaseModel(each);
    },
  },
  {
    name: "a trainable copy is independent of its original",
    run: async ({ engine, model: { model } }) => {
      const { info } = await engine.createModel({
        model: "critic",
        role: "critic",
        source: { kind: "copy", of: model },
        trainable: true,
        valueHead: true,
      });
      assert.deepEqual([info.step, info.hasValueHead, info.trainableParameters > 0], [0, true, true]);
      const outputs = async (id: string): Promise<unknown> =>
        engine.forward({ model: id, units: UNITS, outputs: ALL_OUTPUTS });
      const before = await outputs(model);
      assert.deepEqual(await outputs("critic"), before);
      await step(engine, "critic");
      assert.deepEqual(await outputs(model), before);
      assert.notDeepEqual(await outputs("critic"), before);
      await engine.releaseModel("critic");
    },
  },
  {
    name: "continues from a checkpoint with the same bits (numerics 52)",
    run: async ({ engine, model: { model } }) => {
      const folder = await mkdtemp(join(tmpdir(), "mrlm-engine-contract-"));
      try {
        await step(engine, model);
        await engine.save(join(folder, "checkpoint"));
        const expected = await step(engine, model);
        const [info] = await engine.load(join(folder, "checkpoint"));
        assert.equal(info?.step, 1);
        assert.equal(await step(engine, model), expected);
        assert(
          (await engine.export(model, join(folder, "export"))).includes("config.json"),
          "An export is a model directory with config.json.",
        );
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  },
  {
    name: "refuses invalid calls, which have no effect",
    run: async ({ engine, model: options }) => {
      const { model } = options;
      const clean = await normOf(engine, model);
      await engine.createModel({ ...options, model: "headless", valueHead: false });
      await expectCode(
        engine.forward({ model: "headless", units: UNITS, outputs: { value: true } }),
        "VALUE_HEAD_MISSING",
      );
      const pass = { model, units: UNITS, outputs: { logprob: true }, normalizer: 1, loss: () => ({}) };
      const units = (tokens: number[], mask: number[]): EngineUnit[] => [
        { sequences: [{ tokens: Int32Array.from(tokens), mask: Uint8Array.from(mask) }] },
      ];
      await expectCode(engine.publish("unknown"), "MODEL_NOT_FOUND");
      for (const normalizer of [0, -1, Number.NaN])
        await expectCode(engine.forwardBackward({ ...pass, normalizer }), "NORMALIZER_INVALID");
      await expectCode(
        engine.forwardBackward({ ...pass, loss: () => ({ logprob: new Float32Array(99) }) }),
        "GRADIENT_SHAPE",
      );
      await expectCode(engine.forward({ ...pass, units: units([0, 2 ** 30], [0, 1]) }), "SEQUENCE_INVALID");
      await expectCode(engine.forward({ ...pass, units: units([0, 1], [1, 1]) }), "SEQUENCE_INVALID");
      await expectCode(engine.forwardBackward({ ...pass, signal: AbortSignal.abort() }), "CANCELLED");
      assertRatio(await normOf(engine, model), clean, 1, "gradient norm after passes that were refused");
    },
  },
];

/** Runs one optimizer step. @returns the checksum of the published weights after it */
async function step(engine: Engine, model: string): Promise<string> {
  await engine.forwardBackward({ model, units: UNITS, outputs: ALL_OUTPUTS, normalizer: 1, loss: gradientOf });
  await engine.optimStep({ model, learningRate: 0.01 });
  return (await engine.publish(model)).checksum;
}
