import type { MemoryEstimate, MemoryWorkload } from "@mrlm/spec/host";
import type { Codec } from "../codec.ts";
import type * as wire from "../gen/mrlm/engine/v1/engine.ts";
import { fromInt64, toInt64 } from "../integers.ts";
import { createModelCodec } from "./models.ts";

const request: Codec<MemoryWorkload, wire.EstimateMemoryRequest> = {
  encode: ({ models, sampledModels, concurrency, sequenceTokens, unitSequences, assumedDevices }) => ({
    models: models.map((model) => createModelCodec.request.encode(model, 0n)),
    sampledModels: [...(sampledModels ?? [])],
    concurrency,
    sequenceTokens: sequenceTokens ?? 0,
    unitSequences: unitSequences ?? 0,
    assumedDevices: assumedDevices && { ...assumedDevices, bytes: toInt64(assumedDevices.bytes, "memory") },
  }),

  /** Decodes a workload. Omitted numbers stay omitted. */
  decode: ({ models, sampledModels, concurrency, sequenceTokens, unitSequences, assumedDevices }) => ({
    models: models.map(createModelCodec.request.decode),
    concurrency,
    ...(sampledModels.length > 0 && { sampledModels }),
    ...(sequenceTokens > 0 && { sequenceTokens }),
    ...(unitSequences > 0 && { unitSequences }),
    ...(assumedDevices && {
      assumedDevices: { ...assumedDevices, bytes: fromInt64(assumedDevices.bytes, "memory") },
    }),
  }),
};

const response: Codec<MemoryEstimate, wire.EstimateMemoryResponse> = {
  encode: (estimate) => ({
    lines: estimate.lines.map(({ model, part, bytes, formula }) => ({
      modelId: model,
      part,
      bytes: toInt64(bytes, "memory"),
      formula,
    })),
    totalBytes: toInt64(estimate.totalBytes, "memory"),
    availableBytes: toInt64(estimate.availableBytes, "memory"),
    availableFrom: estimate.availableFrom,
    microBatchTokens: estimate.microBatchTokens,
    wantedTokens: estimate.wantedTokens,
    wantedBytes: toInt64(estimate.wantedBytes, "memory"),
    leastTokens: estimate.leastTokens,
    leastBytes: toInt64(estimate.leastBytes, "memory"),
    fittingSequenceTokens: estimate.fittingSequenceTokens,
  }),

  decode: (estimate) => ({
    lines: estimate.lines.map(({ modelId, part, bytes, formula }) => ({
      model: modelId,
      part,
      bytes: fromInt64(bytes, "memory"),
      formula,
    })),
    totalBytes: fromInt64(estimate.totalBytes, "memory"),
    availableBytes: fromInt64(estimate.availableBytes, "memory"),
    availableFrom: estimate.availableFrom,
    microBatchTokens: estimate.microBatchTokens,
    wantedTokens: estimate.wantedTokens,
    wantedBytes: fromInt64(estimate.wantedBytes, "memory"),
    leastTokens: estimate.leastTokens,
    leastBytes: fromInt64(estimate.leastBytes, "memory"),
    fittingSequenceTokens: estimate.fittingSequenceTokens,
  }),
};

/** Codecs of the call that estimates memory. */
export const estimateMemoryCodec = { request, response };
