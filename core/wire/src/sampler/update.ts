import type { InFlight, UpdateResult, WeightsSource, WeightsUpdate } from "@mrlm/spec/host";
import * as wire from "../gen/mrlm/sampler/v1/sampler.ts";
import { fromInt64, toInt64 } from "../integers.ts";
import { invalid } from "../invalid.ts";

const IN_FLIGHT = {
  recompute: wire.InFlight.IN_FLIGHT_RECOMPUTE,
  keep: wire.InFlight.IN_FLIGHT_KEEP,
  wait: wire.InFlight.IN_FLIGHT_WAIT,
} as const satisfies Record<InFlight, wire.InFlight>;

export function encodeInFlight(rule: InFlight): wire.InFlight {
  return IN_FLIGHT[rule];
}

/** Decodes a rule. One that is not stated is `recompute`. */
export function decodeInFlight(rule: wire.InFlight): InFlight {
  if (rule === wire.InFlight.IN_FLIGHT_UNSPECIFIED) return "recompute";
  const found = (Object.keys(IN_FLIGHT) as InFlight[]).find((name) => IN_FLIGHT[name] === rule);
  if (found === undefined) throw invalid(`a rule for running sequences is ${rule}`);
  return found;
}

export function encodeUpdate({ model, version, checksum, source, inFlight }: WeightsUpdate): wire.UpdateRequest {
  return {
    modelId: model,
    version: toInt64(version, "a weight version"),
    checksum,
    source: encodeSource(source),
    inFlight: encodeInFlight(inFlight),
  };
}

export function decodeUpdate({ modelId, version, checksum, source, inFlight }: wire.UpdateRequest): WeightsUpdate {
  return {
    model: modelId,
    version: fromInt64(version, "a weight version"),
    checksum,
    source: decodeSource(source),
    inFlight: decodeInFlight(inFlight),
  };
}

export function encodeUpdateResult(result: UpdateResult): wire.UpdateResponse {
  const { version, checksum, probeDifference = 0, seconds } = result;
  return { version: toInt64(version, "a weight version"), checksum, probeDifference, seconds };
}

export function decodeUpdateResult({ version, checksum, probeDifference, seconds }: wire.UpdateResponse): UpdateResult {
  return { version: fromInt64(version, "a weight version"), checksum, probeDifference, seconds };
}

function encodeSource(source: WeightsSource): wire.UpdateRequest["source"] {
  return source.kind === "directory"
    ? { $case: "directory", directory: source.directory }
    : { $case: "trainer", trainer: { address: source.address, token: source.token ?? "" } };
}

function decodeSource(source: wire.UpdateRequest["source"]): WeightsSource {
  if (source === undefined) throw invalid("an update of weights has no source");
  if (source.$case === "directory") return { kind: "directory", directory: source.directory };
  const { address, token } = source.trainer;
  return { kind: "trainer", address, ...(token === "" ? {} : { token }) };
}
