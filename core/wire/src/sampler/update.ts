import type { InFlight, UpdateResult, WeightsSource, WeightsUpdate } from "@mrlm/spec/host";
import type { Codec } from "../codec.ts";
import * as wire from "../gen/mrlm/sampler/v1/sampler.ts";
import { fromInt64, toInt64 } from "../integers.ts";
import { invalid } from "../invalid.ts";

const IN_FLIGHT = {
  recompute: wire.InFlight.IN_FLIGHT_RECOMPUTE,
  keep: wire.InFlight.IN_FLIGHT_KEEP,
  wait: wire.InFlight.IN_FLIGHT_WAIT,
} as const satisfies Record<InFlight, wire.InFlight>;

/** Codec: rule for running sequences. */
export const inFlightCodec: Codec<InFlight, wire.InFlight> = {
  encode: (rule) => IN_FLIGHT[rule],

  /** Decodes a rule. One that is not stated is `recompute`. */
  decode(rule) {
    if (rule === wire.InFlight.IN_FLIGHT_UNSPECIFIED) return "recompute";
    const found = (Object.keys(IN_FLIGHT) as InFlight[]).find((name) => IN_FLIGHT[name] === rule);
    if (found === undefined) throw invalid(`a rule for running sequences is ${rule}`);
    return found;
  },
};

const request: Codec<WeightsUpdate, wire.UpdateRequest> = {
  encode: ({ model, version, checksum, source, inFlight }) => ({
    modelId: model,
    version: toInt64(version, "a weight version"),
    checksum,
    source: encodeSource(source),
    inFlight: inFlightCodec.encode(inFlight),
  }),

  decode: ({ modelId, version, checksum, source, inFlight }) => ({
    model: modelId,
    version: fromInt64(version, "a weight version"),
    checksum,
    source: decodeSource(source),
    inFlight: inFlightCodec.decode(inFlight),
  }),
};

const response: Codec<UpdateResult, wire.UpdateResponse> = {
  encode(result) {
    const { version, checksum, probeDifference = 0, seconds } = result;
    return { version: toInt64(version, "a weight version"), checksum, probeDifference, seconds };
  },

  decode: ({ version, checksum, probeDifference, seconds }) => ({
    version: fromInt64(version, "a weight version"),
    checksum,
    probeDifference,
    seconds,
  }),
};

/** Codecs of the call that updates weights. */
export const updateCodec = { request, response };

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
