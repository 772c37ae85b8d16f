import { describe, expect, test } from "@jest/globals";
import type {
  CreateModelOptions,
  EngineInfo,
  MemoryEstimate,
  ModelInfo,
  SampledChunk,
  SampleResult,
} from "@mrlm/spec/host";
import fc from "fast-check";
import {
  decodeCreateModel,
  decodeCreatedModel,
  decodeEngineInfo,
  decodeGradients,
  decodeMemoryEstimate,
  decodeMemoryWorkload,
  decodeOptimStep,
  decodeOptimStepResult,
  decodeOutputs,
  decodeSampleAdd,
  decodeSampleFinish,
  decodeSampleTokens,
  decodeUnit,
  decodeUnitGradients,
  encodeCreateModel,
  encodeCreatedModel,
  encodeEngineInfo,
  encodeGradients,
  encodeMemoryEstimate,
  encodeMemoryWorkload,
  encodeOptimStep,
  encodeOptimStepResult,
  encodeOutputs,
  encodeSampleAdd,
  encodeSampleError,
  encodeSampleFinish,
  encodeSampleTokens,
  encodeUnit,
  fromInt64,
  samplerProto,
  toInt64,
  engineProto as wire,
} from "../src/index.ts";
import { bytesOf, floatsOf, integersOf } from "../src/bytes.ts";
import { finite, object, text } from "./arbitraries.ts";
import { expectSame, throughBytes } from "./through-bytes.ts";

const files = fc.dictionary(text, fc.uint8Array(), { maxKeys: 2, noNullPrototype: true });
const info: fc.Arbitrary<ModelInfo> = fc.record({
  model: text,
  role: fc.constantFrom("policy", "critic", "reference", "reward"),
  architecture: text,
  parameters: fc.maxSafeNat(),
  trainableParameters: fc.maxSafeNat(),
  vocabSize: fc.nat(),
  maxPositions: fc.oneof(fc.integer({ min: 1, max: 2 ** 31 }), fc.constant(Number.POSITIVE_INFINITY)),
  eosTokenIds: fc.array(fc.nat()),
  padTokenId: fc.option(fc.nat()),
  dtype: text,
  step: fc.maxSafeNat(),
  version: fc.maxSafeNat(),
  hasValueHead: fc.boolean(),
  config: object,
});

describe("encoding and decoding keeps", () => {
  test("models", () => {
    const created = fc.record({ info, tokenizerFiles: files });
    fc.assert(
      fc.property(created, (value) =>
        expectSame(decodeCreatedModel(throughBytes(wire.CreateModelResponse, encodeCreatedModel(value))), value),
      ),
    );
  });

  test("options of a model", () => {
    const options: fc.Arbitrary<CreateModelOptions> = fc.record(
      {
        model: text,
        role: fc.constantFrom("policy", "critic", "reference", "reward"),
        source: fc.oneof(
          fc.record({ kind: fc.constant("directory" as const), path: text }),
          fc.record({
            kind: fc.constant("random" as const),
            config: object,
            seed: fc.maxSafeNat(),
            tokenizerFiles: files,
          }),
          fc.record({ kind: fc.constantFrom("copy" as const, "adapter-off" as const), of: text }),
        ),
        trainable: fc.boolean(),
        lora: fc.oneof(
          fc.record({
            rank: fc.nat(),
            alpha: finite,
            dropout: finite,
            targetModules: fc.array(text),
            seed: fc.maxSafeNat(),
          }),
          // An omitted rank or alpha is that of the saved adapter.
          fc.record(
            {
              path: fc.string({ minLength: 1 }),
              rank: fc.integer({ min: 1, max: 99 }),
              alpha: fc.double({ min: 0.5, max: 99, noNaN: true }),
              dropout: finite,
              targetModules: fc.array(text),
              seed: fc.maxSafeNat(),
            },
            { requiredKeys: ["path", "dropout", "targetModules", "seed"] },
          ),
        ),
        dtype: fc.constantFrom("auto", "float32", "bfloat16", "float16"),
        float32Head: fc.boolean(),
        valueHead: fc.boolean(),
        gradientCheckpointing: fc.boolean(),
        microBatchTokens: fc.nat(),
      },
      {
        requiredKeys: [
          "model",
          "role",
          "source",
          "trainable",
          "dtype",
          "float32Head",
          "valueHead",
          "gradientCheckpointing",
          "microBatchTokens",
        ],
      },
    );
    fc.assert(
      fc.property(options, (value) =>
        expectSame(decodeCreateModel(throughBytes(wire.CreateModelRequest, encodeCreateModel(value, 7n))), value),
      ),
    );
  });

  test("memory estimates", () => {
    const bytes = fc.maxSafeNat();
    const estimate: fc.Arbitrary<MemoryEstimate> = fc.record({
      lines: fc.array(fc.record({ model: text, part: text, bytes, formula: text }), { maxLength: 3 }),
      totalBytes: bytes,
      availableBytes: bytes,
      availableFrom: text,
      microBatchTokens: fc.nat(),
      wantedTokens: fc.nat(),
      wantedBytes: bytes,
      leastTokens: fc.nat(),
      leastBytes: bytes,
      fittingSequenceTokens: fc.nat(),
    });
    fc.assert(
      fc.property(estimate, (value) =>
        expectSame(decodeMemoryEstimate(throughBytes(wire.EstimateMemoryResponse, encodeMemoryEstimate(value))), value),
      ),
    );
    const model = {
      model: "policy",
      role: "policy",
      source: { kind: "copy", of: "x" },
      trainable: true,
      dtype: "auto",
      float32Head: false,
      valueHead: false,
      gradientCheckpointing: false,
      microBatchTokens: 0,
    } as const;
    for (const workload of [
      { models: [model], concurrency: 2 },
      { models: [], sampledModels: ["policy", "other"], concurrency: 0, sequenceTokens: 9, unitSequences: 8 },
    ])
      expectSame(
        decodeMemoryWorkload(throughBytes(wire.EstimateMemoryRequest, encodeMemoryWorkload(workload))),
        workload,
      );
  });

  test("descriptions of an engine", () => {
    const engine: fc.Arbitrary<EngineInfo> = fc.record({
      device: text,
      deviceName: text,
      versions: fc.record({ torch: text, transformers: text, python: text }),
      deterministic: fc.boolean(),
      threads: fc.nat(),
      worldSize: fc.nat(),
      instanceId: text,
      computeSeconds: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
      memory: fc.record({ allocatedBytes: fc.maxSafeNat(), peakBytes: fc.maxSafeNat() }),
      models: fc.array(info, { maxLength: 2 }),
    });
    fc.assert(
      fc.property(engine, (value) =>
        expectSame(decodeEngineInfo(throughBytes(wire.DescribeResponse, encodeEngineInfo(value, 3n))), value),
      ),
    );
  });

  test("samples, with 64-bit keys and a weight version for each token", () => {
    const result: fc.Arbitrary<SampleResult> = fc
      .array(fc.tuple(fc.integer(), fc.float(), fc.nat(3)), { maxLength: 20 })
      .chain((rows) =>
        fc.record({
          tokens: fc.constant(Int32Array.from(rows, (row) => row[0])),
          logprobs: fc.constant(Float32Array.from(rows, (row) => row[1])),
          versions: fc.constant(Int32Array.from(rows, (row) => row[2])),
          stopReason: fc.constantFrom("stop", "length", "cancelled"),
          truncatedSupport: fc.boolean(),
        }),
      );
    fc.assert(
      fc.property(result, (value) =>
        expectSame(decodeSampleFinish(throughBytes(samplerProto.SampleFinish, encodeSampleFinish(5n, value))), value),
      ),
    );
    fc.assert(
      fc.property(result, ({ tokens, logprobs, versions }) => {
        const messages = encodeSampleTokens(5n, { tokens, logprobs, versions });
        const chunks = messages.map((message) => decodeSampleTokens(throughBytes(samplerProto.SampleTokens, message)));
        const list = (field: keyof SampledChunk): number[] => chunks.flatMap((chunk) => [...chunk[field]]);
        expectSame([list("tokens"), list("logprobs"), list("versions")], [[...tokens], [...logprobs], [...versions]]);
      }),
    );
    const request = fc.record({
      prompt: fc.int32Array(),
      params: fc.record({
        temperature: finite,
        topP: finite,
        topK: fc.nat(),
        maxTokens: fc.nat(),
        minTokens: fc.nat(),
        stopTokenIds: fc.array(fc.nat()),
      }),
      key: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    });
    fc.assert(
      fc.property(request, (value) =>
        expectSame(decodeSampleAdd(throughBytes(samplerProto.SampleAdd, encodeSampleAdd(1n, value))), value),
      ),
    );
  });

  test("optimizer steps", () => {
    const options = fc.record({
      model: text,
      learningRate: finite,
      beta1: finite,
      beta2: finite,
      epsilon: finite,
      weightDecay: finite,
      maxGradNorm: finite,
    });
    fc.assert(
      fc.property(options, (value) =>
        expectSame(decodeOptimStep(throughBytes(wire.OptimStepRequest, encodeOptimStep(value, 1n))), value),
      ),
    );
    const result = fc.record(
      {
        applied: fc.boolean(),
        gradNorm: fc.double().map((value) => value + 0),
        step: fc.maxSafeNat(),
        skippedReason: fc.string({ minLength: 1 }),
        seconds: finite,
      },
      { requiredKeys: ["applied", "gradNorm", "step", "seconds"] },
    );
    fc.assert(
      fc.property(result, (value) =>
        expectSame(decodeOptimStepResult(throughBytes(wire.OptimStepResponse, encodeOptimStepResult(value))), value),
      ),
    );
  });

  test("units with their gradients, outputs", () => {
    const sequence = fc.array(fc.tuple(fc.integer(), fc.boolean()), { minLength: 1, maxLength: 8 }).map((rows) => ({
      tokens: Int32Array.from(rows, (row) => row[0]),
      mask: Uint8Array.from(rows, (row) => Number(row[1])),
    }));
    fc.assert(
      fc.property(fc.array(sequence, { maxLength: 3 }), fc.double({ noNaN: true }), (sequences, scale) => {
        const masked = sequences.reduce((sum, { mask }) => sum + mask.reduce((count, bit) => count + bit, 0), 0);
        const logprob = Float32Array.from({ length: masked }, (_, i) => scale * (i + 1));
        const received = throughBytes(wire.Unit, encodeUnit({ sequences }, { logprob }));
        expectSame(decodeUnit(received), { sequences });
        expectSame(decodeUnitGradients(received), masked === 0 ? {} : { logprob });
        expectSame(
          decodeGradients(throughBytes(wire.UnitGradients, encodeGradients({ logprob }))),
          masked === 0 ? {} : { logprob },
        );
        const outputs = { logprob, finalValue: new Float32Array(sequences.length) };
        expectSame(
          decodeOutputs(throughBytes(wire.UnitOutputs, encodeOutputs(outputs)), { logprob: true, finalValue: true }),
          outputs,
        );
      }),
    );
  });
});

describe("numbers as bytes", () => {
  test("are a view where aligned and a copy where not, and little-endian", () => {
    const numbers = Float32Array.of(1, -2.5);
    expect(bytesOf(numbers).buffer).toBe(numbers.buffer);
    expect([...bytesOf(Int32Array.of(0x01020304))]).toEqual([4, 3, 2, 1]);
    const aligned = new Uint8Array(8);
    expect(floatsOf(aligned).buffer).toBe(aligned.buffer);
    const odd = new Uint8Array(9).subarray(1);
    expect(integersOf(odd).buffer).not.toBe(odd.buffer);
    expect(() => floatsOf(new Uint8Array(5))).toThrow(RangeError);
  });

  test("64-bit integers keep every bit within ±2^53 and are refused beyond", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) =>
        expect(fromInt64(toInt64(value, "n"), "n")).toBe(value === 0 ? 0 : value),
      ),
    );
    expect(() => toInt64(Number.NaN, "n")).toThrow(/not a whole number/);
    expect(() => toInt64(2 ** 53, "n")).toThrow(/not a whole number/);
    expect(() => fromInt64(2n ** 53n, "n")).toThrow(/outside/);
  });
});

test("a sequence's own error comes back as that error", () => {
  const error = Object.assign(new Error("too long"), {});
  expect(() => decodeSampleFinish(encodeSampleError(1n, error))).toThrow(
    expect.objectContaining({ code: "ENGINE_FAILED" }),
  );
});
