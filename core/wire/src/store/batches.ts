import type { Credit } from "@mrlm/spec";
import type { PlayedRecord, StoreEvent, TakenBatch, TakeRecord, TakeRule, WeightsRow } from "@mrlm/spec/host";
import { encodeJson } from "@mrlm/store/encoding";
import { bytesOf, floatsOf } from "../bytes.ts";
import type * as wire from "../gen/mrlm/store/v1/store.ts";
import { fromInt64, toInt64 } from "../integers.ts";
import { invalid } from "../invalid.ts";
import { decodeVersions, encodeVersions } from "./cohorts.ts";
import { parseJsonText } from "./groups.ts";

/** A batch without its groups, or the reason why there is none. */
export type TakenHead = Omit<TakenBatch, "groups"> | "unready" | "outdated";

export function encodeTakeRecord({ runStep, iteration, version, tasks }: TakeRecord): wire.TakeRecord {
  return { runStep, iteration, version: toInt64(version, "a weight version"), tasksJson: encodeJson(tasks) };
}

/** Throws MESSAGE_INVALID for a message without a record. */
export function decodeTakeRecord(message: wire.TakeRecord | undefined): TakeRecord {
  if (message === undefined) throw invalid("the record of a take is missing");
  const { runStep, iteration, version, tasksJson } = message;
  return { runStep, iteration, version: fromInt64(version, "a weight version"), tasks: parseJsonText(tasksJson) };
}

/** Throws MESSAGE_INVALID for a rule that this version does not know. */
export function decodeTakeRule({ from, checksum }: wire.TakeRequest): TakeRule {
  if (from !== "cohorts" && from !== "oldest") throw invalid(`a rule takes from "${from}"`);
  return { from, checksum: checksum ?? null };
}

export function encodeTakenHead(head: TakenHead): wire.TakeHead {
  if (typeof head === "string") return { result: head, refused: [], replayed: false, record: undefined };
  const { refused, isReplayed, record } = head;
  return { result: "taken", refused: [...refused], replayed: isReplayed, record: encodeTakeRecord(record) };
}

/** Throws MESSAGE_INVALID for a message without a head, or with a result that this version does not know. */
export function decodeTakenHead(message: wire.TakeHead | undefined): TakenHead {
  if (message === undefined) throw invalid("the head of a batch is missing");
  const { result, refused, replayed, record } = message;
  if (result === "unready" || result === "outdated") return result;
  if (result !== "taken") throw invalid(`a take has the result "${result}"`);
  return { refused, isReplayed: replayed, record: decodeTakeRecord(record) };
}

export function encodeCredit({ trajectory, agent, advantage, logprobs }: Credit): wire.Credit {
  return {
    trajectory,
    agent,
    weight:
      typeof advantage === "number"
        ? { $case: "advantage", advantage }
        : { $case: "advantages", advantages: bytesOf(advantage) },
    logprobs: logprobs === undefined ? undefined : bytesOf(logprobs),
  };
}

/** Throws MESSAGE_INVALID for a credit without a weight, or with bytes that are no numbers. */
export function decodeCredit({ trajectory, agent, weight, logprobs }: wire.Credit): Credit {
  if (weight === undefined) throw invalid("a credit has no weight");
  const advantage = weight.$case === "advantage" ? weight.advantage : floats(weight.advantages);
  return { trajectory, agent, advantage, ...(logprobs === undefined ? {} : { logprobs: floats(logprobs) }) };
}

function floats(bytes: Uint8Array): Float32Array {
  if (bytes.length % 4 !== 0) throw invalid(`a credit has ${bytes.length} bytes of numbers of 4 bytes`);
  return floatsOf(bytes);
}

type PlayedHead = Omit<PlayedRecord, "groups">;

export function encodeRecordHead(
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
}

/** Throws MESSAGE_INVALID for a purpose that this version does not know. */
export function decodeRecordHead(message: wire.RecordHead): PlayedHead {
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
}

export function encodeWeights({ policy, version, step, checksum, location }: WeightsRow): wire.Weights {
  return {
    policy,
    version: toInt64(version, "a weight version"),
    step,
    checksum: checksum ?? undefined,
    location,
  };
}

/** Throws MESSAGE_INVALID for a message without weights. */
export function decodeWeights(message: wire.Weights | undefined): WeightsRow {
  if (message === undefined) throw invalid("weights are missing");
  const { policy, version, step, checksum = null, location } = message;
  return {
    policy,
    version: fromInt64(version, "a weight version"),
    step,
    checksum,
    ...(location === undefined ? {} : { location }),
  };
}

export function encodeEvent({ number, kind, subject, step }: StoreEvent): wire.Event {
  return { number: toInt64(number, "the number of an event"), kind, subject, step: step ?? undefined };
}

export function decodeEvent({ number, kind, subject, step }: wire.Event): StoreEvent {
  return {
    number: fromInt64(number, "the number of an event"),
    kind: kind as StoreEvent["kind"],
    subject,
    step: step ?? null,
  };
}
