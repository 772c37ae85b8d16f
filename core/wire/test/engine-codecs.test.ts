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
  createModelCodec,
  engineInfoCodec,
  gradientsCodec,
  estimateMemoryCodec,
  optimStepCodec,
  outputsCodec,
  sampleAddCodec,
  sampleFinishCodec,
  sampleTokensCodec,
  unitCodec,
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
        expectSame(
          createModelCodec.response.decode(
            throughBytes(wire.CreateModelResponse, createModelCodec.response.encode(value)),
          ),
          value,
        ),
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
        expectSame(
          createModelCodec.request.decode(
            throughBytes(wire.CreateModelRequest, createModelCodec.request.encode(value, 7n)),
          ),
          value,
        ),
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
        expectSame(
          estimateMemoryCodec.response.decode(
            throughBytes(wire.EstimateMemoryResponse, estimateMemoryCodec.response.encode(value)),
          ),
          value,
        ),
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
      {
        ...{ models: [], concurrency: 1 },
        assumedDevices: { name: "h100x8", bytes: 80e9, ranks: 8, shardsWeights: true },
      },
    ])
      expectSame(
        estimateMemoryCodec.request.decode(
          throughBytes(wire.EstimateMemoryRequest, estimateMemoryCodec.request.encode(workload)),
        ),
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
        expectSame(
          engineInfoCodec.decode(throughBytes(wire.DescribeResponse, engineInfoCodec.encode(value, 3n))),
          value,
        ),
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
        expectSame(
          sampleFinishCodec.decode(throughBytes(samplerProto.SampleFinish, sampleFinishCodec.encode(5n, value))),
          value,
        ),
      ),
    );
    fc.assert(
      fc.property(result, ({ tokens, logprobs, versions }) => {
        const messages = sampleTokensCodec.encode(5n, { tokens, logprobs, versions });
        const chunks = messages.map((message) =>
          sampleTokensCodec.decode(throughBytes(samplerProto.SampleTokens, message)),
        );
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
        expectSame(
          sampleAddCodec.decode(throughBytes(samplerProto.SampleAdd, sampleAddCodec.encode(1n, value))),
          value,
        ),
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
        expectSame(
          optimStepCodec.request.decode(throughBytes(wire.OptimStepRequest, optimStepCodec.request.encode(value, 1n))),
          value,
        ),
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
        expectSame(
          optimStepCodec.response.decode(throughBytes(wire.OptimStepResponse, optimStepCodec.response.encode(value))),
          value,
        ),
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
        const received = throughBytes(wire.Unit, unitCodec.encode({ sequences }, { logprob }));
        expectSame(unitCodec.decode(received), { sequences });
        expectSame(unitCodec.decodeGradients(received), masked === 0 ? {} : { logprob });
        expectSame(
          gradientsCodec.decode(throughBytes(wire.UnitGradients, gradientsCodec.encode({ logprob }))),
          masked === 0 ? {} : { logprob },
        );
        const outputs = { logprob, finalValue: new Float32Array(sequences.length) };
        expectSame(
          outputsCodec.decode(throughBytes(wire.UnitOutputs, outputsCodec.encode(outputs)), {
            logprob: true,
            finalValue: true,
          }),
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
  expect(() => sampleFinishCodec.decode(sampleFinishCodec.encodeError(1n, error))).toThrow(
    expect.objectContaining({ code: "ENGINE_FAILED" }),
  );
});
