import type {
  CreatedModel,
  CreateModelOptions,
  EngineInfo,
  LoraOptions,
  ModelInfo,
  ModelRole,
  ModelSource,
} from "@mrlm/spec/host";
import { plainBytes } from "../bytes.ts";
import type { Codec } from "../codec.ts";
import * as wire from "../gen/mrlm/engine/v1/engine.ts";
import { fromInt64, toInt64 } from "../integers.ts";
import { invalid } from "../invalid.ts";
import { fromJson } from "../json.ts";
import { PROTOCOLS } from "../protocol.ts";

const ROLES = {
  policy: wire.Role.ROLE_POLICY,
  critic: wire.Role.ROLE_CRITIC,
  reference: wire.Role.ROLE_REFERENCE,
  reward: wire.Role.ROLE_REWARD,
} as const satisfies Record<ModelRole, wire.Role>;

const request = {
  encode(options: CreateModelOptions, call: bigint): wire.CreateModelRequest {
    const { lora } = options;
    return {
      call,
      modelId: options.model,
      role: ROLES[options.role],
      source: encodeSource(options.source),
      lora: lora && {
        rank: lora.rank ?? 0,
        alpha: lora.alpha ?? 0,
        path: lora.path ?? "",
        dropout: lora.dropout ?? 0,
        targetModules: [...(lora.targetModules ?? [])],
        seed: toInt64(lora.seed ?? 0, "the adapter's seed"),
      },
      dtype: options.dtype ?? "auto",
      float32Head: options.float32Head ?? false,
      valueHead: options.valueHead ?? false,
      trainable: options.trainable,
      gradientCheckpointing: options.gradientCheckpointing ?? false,
      microBatchTokens: options.microBatchTokens ?? 0,
    };
  },

  /** Decodes the options of a model. Omitted options get their defaults. */
  decode(request: wire.CreateModelRequest): CreateModelOptions {
    const { lora } = request;
    return {
      model: request.modelId,
      role: decodeRole(request.role),
      source: decodeSource(request.source),
      trainable: request.trainable,
      ...(lora && { lora: decodeLora(lora) }),
      dtype: decodeDType(request.dtype),
      float32Head: request.float32Head,
      valueHead: request.valueHead,
      gradientCheckpointing: request.gradientCheckpointing,
      microBatchTokens: request.microBatchTokens,
    };
  },
};

/** Decodes LoRA options. A rank or alpha of 0 stands for that of the adapter at `path`. */
function decodeLora({ path, rank, alpha, dropout, targetModules, seed }: wire.Lora): LoraOptions {
  return {
    ...(path === "" ? { rank, alpha } : { path, ...(rank === 0 ? {} : { rank }), ...(alpha === 0 ? {} : { alpha }) }),
    dropout,
    targetModules,
    seed: fromInt64(seed, "the adapter's seed"),
  };
}

function encodeSource(source: ModelSource): wire.CreateModelRequest["source"] {
  switch (source.kind) {
    case "directory":
      return { $case: "directory", directory: source.path };
    case "random":
      return {
        $case: "random",
        random: {
          configJson: JSON.stringify(source.config),
          seed: toInt64(source.seed, "the model's seed"),
          tokenizerFiles: new Map(Object.entries(source.tokenizerFiles)),
        },
      };
    case "copy":
      return { $case: "copyOf", copyOf: source.of };
    case "adapter-off":
      return { $case: "adapterOff", adapterOff: source.of };
  }
}

function decodeSource(source: wire.CreateModelRequest["source"]): ModelSource {
  switch (source?.$case) {
    case "directory":
      return { kind: "directory", path: source.directory };
    case "random": {
      const { configJson, seed, tokenizerFiles } = source.random;
      return {
        kind: "random",
        config: fromJson(configJson, "a model's configuration"),
        seed: fromInt64(seed, "the model's seed"),
        tokenizerFiles: decodeFiles(tokenizerFiles),
      };
    }
    case "copyOf":
      return { kind: "copy", of: source.copyOf };
    case "adapterOff":
      return { kind: "adapter-off", of: source.adapterOff };
    default:
      throw invalid("a model has no source");
  }
}

function decodeDType(dtype: string): NonNullable<CreateModelOptions["dtype"]> {
  if (dtype === "" || dtype === "auto") return "auto";
  if (dtype === "float32" || dtype === "bfloat16" || dtype === "float16") return dtype;
  throw invalid(`"${dtype}" is not a dtype`);
}

function decodeRole(role: wire.Role): ModelRole {
  const name = (Object.keys(ROLES) as ModelRole[]).find((candidate) => ROLES[candidate] === role);
  if (name === undefined) throw invalid("a model has no role");
  return name;
}

/** Codec: description of a model. */
export const modelInfoCodec: Codec<ModelInfo, wire.ModelInfo, wire.ModelInfo | undefined> = {
  encode: (info) => ({
    modelId: info.model,
    role: ROLES[info.role],
    architecture: info.architecture,
    parameters: toInt64(info.parameters, "parameters"),
    trainableParameters: toInt64(info.trainableParameters, "trainable parameters"),
    vocabSize: info.vocabSize,
    maxPositions: Number.isFinite(info.maxPositions) ? info.maxPositions : 0,
    eosTokenIds: [...info.eosTokenIds],
    padTokenId: info.padTokenId ?? -1,
    dtype: info.dtype,
    step: toInt64(info.step, "step"),
    version: toInt64(info.version, "version"),
    hasValueHead: info.hasValueHead,
    configJson: JSON.stringify(info.config),
  }),

  decode(info) {
    if (info === undefined) throw invalid("a model's description is missing");
    return {
      model: info.modelId,
      role: decodeRole(info.role),
      architecture: info.architecture,
      parameters: fromInt64(info.parameters, "parameters"),
      trainableParameters: fromInt64(info.trainableParameters, "trainable parameters"),
      vocabSize: info.vocabSize,
      maxPositions: info.maxPositions === 0 ? Number.POSITIVE_INFINITY : info.maxPositions,
      eosTokenIds: info.eosTokenIds,
      padTokenId: info.padTokenId < 0 ? null : info.padTokenId,
      dtype: info.dtype,
      step: fromInt64(info.step, "step"),
      version: fromInt64(info.version, "version"),
      hasValueHead: info.hasValueHead,
      config: fromJson(info.configJson, `the configuration of model "${info.modelId}"`),
    };
  },
};

const response: Codec<CreatedModel, wire.CreateModelResponse> = {
  encode: ({ info, tokenizerFiles }) => ({
    model: modelInfoCodec.encode(info),
    tokenizerFiles: new Map(Object.entries(tokenizerFiles)),
  }),

  decode: ({ model, tokenizerFiles }) => ({
    info: modelInfoCodec.decode(model),
    tokenizerFiles: decodeFiles(tokenizerFiles),
  }),
};

/** Codecs of the call that creates a model. */
export const createModelCodec = { request, response };

export function decodeFiles(files: ReadonlyMap<string, Uint8Array>): Record<string, Uint8Array> {
  return Object.fromEntries(Array.from(files, ([name, bytes]) => [name, plainBytes(bytes)]));
}

/** Codec: description of an engine. */
export const engineInfoCodec = {
  encode(info: EngineInfo, lastCall: bigint): wire.DescribeResponse {
    return {
      protocolMajor: PROTOCOLS.engine.major,
      protocolMinor: PROTOCOLS.engine.minor,
      device: info.device,
      deviceName: info.deviceName,
      torchVersion: info.versions.torch,
      transformersVersion: info.versions.transformers,
      pythonVersion: info.versions.python,
      deterministic: info.deterministic,
      models: info.models.map(modelInfoCodec.encode),
      instanceId: info.instanceId,
      memoryAllocatedBytes: toInt64(info.memory.allocatedBytes, "memory"),
      memoryPeakBytes: toInt64(info.memory.peakBytes, "memory"),
      threads: info.threads,
      worldSize: info.worldSize,
      computeSeconds: info.computeSeconds,
      lastCall,
    };
  },

  decode(info: wire.DescribeResponse): EngineInfo {
    return {
      device: info.device,
      deviceName: info.deviceName,
      versions: { torch: info.torchVersion, transformers: info.transformersVersion, python: info.pythonVersion },
      deterministic: info.deterministic,
      threads: info.threads,
      worldSize: info.worldSize,
      instanceId: info.instanceId,
      memory: {
        allocatedBytes: fromInt64(info.memoryAllocatedBytes, "memory"),
        peakBytes: fromInt64(info.memoryPeakBytes, "memory"),
      },
      computeSeconds: info.computeSeconds,
      models: info.models.map(modelInfoCodec.decode),
    };
  },
};
