import type { Credit } from "@mrlm/spec";
import type { PlayedRecord, StoreEvent, TakenBatch, TakeRecord, WeightsRow } from "@mrlm/spec/host";
import { bytesOf, floatsOf } from "../bytes.ts";
import type { Codec } from "../codec.ts";
import type * as wire from "../gen/mrlm/store/v1/store.ts";
import { fromInt64, toInt64 } from "../integers.ts";
import { invalid } from "../invalid.ts";
import { jsonCodec } from "../json.ts";
import { decodeVersions, encodeVersions } from "./cohorts.ts";

/** A batch without its groups, or the reason why there is none. */
export type TakenHead = Omit<TakenBatch, "groups"> | "unready" | "outdated";

/** Codec: record of a take. */
export const takeRecordCodec: Codec<TakeRecord, wire.TakeRecord, wire.TakeRecord | undefined> = {
  encode: ({ runStep, iteration, version, tasks }) => ({
    runStep,
    iteration,
    version: toInt64(version, "a weight version"),
    tasksJson: jsonCodec.encode(tasks),
  }),

  /** Throws MESSAGE_INVALID for a message without a record. */
  decode(message) {
    if (message === undefined) throw invalid("the record of a take is missing");
    const { runStep, iteration, version, tasksJson } = message;
    return { runStep, iteration, version: fromInt64(version, "a weight version"), tasks: jsonCodec.decode(tasksJson) };
  },
};

/** Codec: head of a batch. */
export const takenHeadCodec: Codec<TakenHead, wire.TakeHead, wire.TakeHead | undefined> = {
  encode(head) {
    if (typeof head === "string") return { result: head, refused: [], replayed: false, record: undefined };
    const { refused, isReplayed, record } = head;
    return { result: "taken", refused: [...refused], replayed: isReplayed, record: takeRecordCodec.encode(record) };
  },

  /** Throws MESSAGE_INVALID for a message without a head, or with a result that this version does not know. */
  decode(message) {
    if (message === undefined) throw invalid("the head of a batch is missing");
    const { result, refused, replayed, record } = message;
    if (result === "unready" || result === "outdated") return result;
    if (result !== "taken") throw invalid(`a take has the result "${result}"`);
    return { refused, isReplayed: replayed, record: takeRecordCodec.decode(record) };
  },
};

/** Codec: credit of an agent. */
export const creditCodec: Codec<Credit, wire.Credit> = {
  encode: ({ trajectory, agent, advantage, logprobs }) => ({
    trajectory,
    agent,
    weight:
      typeof advantage === "number"
        ? { $case: "advantage", advantage }
        : { $case: "advantages", advantages: bytesOf(advantage) },
    logprobs: logprobs === undefined ? undefined : bytesOf(logprobs),
  }),

  /** Throws MESSAGE_INVALID for a credit without a weight, or with bytes that are no numbers. */
  decode({ trajectory, agent, weight, logprobs }) {
    if (weight === undefined) throw invalid("a credit has no weight");
    const advantage = weight.$case === "advantage" ? weight.advantage : floats(weight.advantages);
    return { trajectory, agent, advantage, ...(logprobs === undefined ? {} : { logprobs: floats(logprobs) }) };
  },
};

function floats(bytes: Uint8Array): Float32Array {
  if (bytes.length % 4 !== 0) throw invalid(`a credit has ${bytes.length} bytes of numbers of 4 bytes`);
  return floatsOf(bytes);
}

type PlayedHead = Omit<PlayedRecord, "groups">;

/** Codec: recorded groups, without the groups. */
export const recordHeadCodec = {
  encode(
    { purpose, stage, runStep, place, environment, versions, checksum, id = "" }: PlayedHead,
    call: bigint,
  ): wire.RecordHead {
    return {
      call,
      id,
      purpose,
      stage,
      runStep,
      environmentIndex: place,
      environment,
      versions: encodeVersions(versions),
      checksum: checksum ?? undefined,
    };
  },

  /** Throws MESSAGE_INVALID for a purpose that this version does not know. */
  decode(message: wire.RecordHead): PlayedHead {
    const { id, purpose, stage, runStep, environmentIndex, environment, versions, checksum = null } = message;
    if (purpose !== "goal" && purpose !== "eval" && purpose !== "collect")
      throw invalid(`groups are recorded for the purpose "${purpose}"`);
    return {
      ...(id === "" ? {} : { id }),
      purpose,
      stage,
      runStep,
      place: environmentIndex,
      environment,
      versions: decodeVersions(versions),
      checksum,
    };
  },
};

/** Codec: announced weights. */
export const weightsCodec: Codec<WeightsRow, wire.Weights, wire.Weights | undefined> = {
  encode: ({ policy, version, step, checksum, location }) => ({
    policy,
    version: toInt64(version, "a weight version"),
    step,
    checksum: checksum ?? undefined,
    location,
  }),

  /** Throws MESSAGE_INVALID for a message without weights. */
  decode(message) {
    if (message === undefined) throw invalid("weights are missing");
    const { policy, version, step, checksum = null, location } = message;
    return {
      policy,
      version: fromInt64(version, "a weight version"),
      step,
      checksum,
      ...(location === undefined ? {} : { location }),
    };
  },
};

/** Codec: event of a store. */
export const eventCodec: Codec<StoreEvent, wire.Event> = {
  encode: ({ number, kind, subject, step }) => ({
    number: toInt64(number, "the number of an event"),
    kind,
    subject,
    step: step ?? undefined,
  }),

  decode: ({ number, kind, subject, step }) => ({
    number: fromInt64(number, "the number of an event"),
    kind: kind as StoreEvent["kind"],
    subject,
    step: step ?? null,
  }),
};
