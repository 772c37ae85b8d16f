import type { SamplerCapabilities, SamplerInfo } from "@mrlm/spec/host";
import type { Codec } from "../codec.ts";
import * as wire from "../gen/mrlm/sampler/v1/sampler.ts";
import { fromInt64, toInt64 } from "../integers.ts";
import { invalid } from "../invalid.ts";
import { PROTOCOLS } from "../protocol.ts";
import { inFlightCodec } from "./update.ts";

const { LogprobKind, Proof } = wire;

/** Codec: description of a sampler. */
export const samplerInfoCodec: Codec<SamplerInfo, wire.DescribeResponse> = {
  encode: (info) => ({
    protocolMajor: PROTOCOLS.sampler.major,
    protocolMinor: PROTOCOLS.sampler.minor,
    instanceId: info.instanceId,
    device: info.device,
    deviceName: info.deviceName,
    software: new Map(Object.entries(info.software)),
    threads: info.threads,
    models: info.models.map(({ model, version, checksum }) => ({
      modelId: model,
      version: toInt64(version, "a weight version"),
      checksum,
    })),
    capabilities: encodeCapabilities(info.capabilities),
    runningTokens: toInt64(info.runningTokens, "a number of tokens"),
    computeSeconds: info.computeSeconds,
  }),

  decode(info) {
    if (info.capabilities === undefined) throw invalid("a sampler states no capabilities");
    return {
      instanceId: info.instanceId,
      device: info.device,
      deviceName: info.deviceName,
      software: Object.fromEntries(info.software),
      threads: info.threads,
      models: info.models.map(({ modelId, version, checksum }) => ({
        model: modelId,
        version: fromInt64(version, "a weight version"),
        checksum,
      })),
      capabilities: decodeCapabilities(info.capabilities),
      runningTokens: fromInt64(info.runningTokens, "a number of tokens"),
      computeSeconds: info.computeSeconds,
    };
  },
};

function encodeCapabilities(capabilities: SamplerCapabilities): wire.SamplerCapabilities {
  const { deterministic, logprobs, updates, inFlight, proof, sleeps = false } = capabilities;
  return {
    deterministic,
    logprobs: logprobs === "drawn" ? LogprobKind.LOGPROB_KIND_DRAWN : LogprobKind.LOGPROB_KIND_FULL,
    updateFromTrainer: updates.includes("trainer"),
    updateFromDirectory: updates.includes("directory"),
    inFlight: inFlight.map(inFlightCodec.encode),
    proof: proof === "checksum" ? Proof.PROOF_CHECKSUM : Proof.PROOF_PROBE,
    sleeps,
  };
}

function decodeCapabilities(capabilities: wire.SamplerCapabilities): SamplerCapabilities {
  const { deterministic, logprobs, updateFromTrainer, updateFromDirectory, inFlight, proof, sleeps } = capabilities;
  return {
    deterministic,
    logprobs: logprobs === LogprobKind.LOGPROB_KIND_FULL ? "full" : "drawn",
    updates: [
      ...(updateFromTrainer ? ["trainer" as const] : []),
      ...(updateFromDirectory ? ["directory" as const] : []),
    ],
    inFlight: inFlight.map(inFlightCodec.decode),
    proof: proof === Proof.PROOF_PROBE ? "probe" : "checksum",
    ...(sleeps && { sleeps }),
  };
}
