import type { Cohort, Lease, PlannedGroup } from "@mrlm/spec/host";
import type { Codec } from "../codec.ts";
import type * as wire from "../gen/mrlm/store/v1/store.ts";
import { fromInt64, toInt64 } from "../integers.ts";
import { invalid } from "../invalid.ts";

/** Codec: cohort of groups. */
export const cohortCodec: Codec<Cohort, wire.Cohort, wire.Cohort | undefined> = {
  encode({ place, versions, checksum, groups, ...cohort }) {
    const [environmentIndex, part] = place;
    return {
      ...cohort,
      environmentIndex,
      part,
      versions: encodeVersions(versions),
      checksum: checksum ?? undefined,
      groups: groups.map(({ seed, ...group }) => ({
        ...group,
        seed: seed === null ? undefined : toInt64(seed, "a seed"),
      })),
    };
  },

  /** Throws MESSAGE_INVALID for a message without a cohort. */
  decode(message) {
    if (message === undefined) throw invalid("a cohort is missing");
    const { environmentIndex, part, versions, checksum = null, groups, ...cohort } = message;
    return {
      ...cohort,
      place: [environmentIndex, part],
      versions: decodeVersions(versions),
      checksum,
      groups: groups.map(({ id, task, seed, size }) => ({
        id,
        task: task as PlannedGroup["task"],
        seed: seed === undefined ? null : fromInt64(seed, "a seed"),
        size,
      })),
    };
  },
};

/** Codec: lease of a cohort. */
export const leaseCodec: Codec<Lease, wire.CohortLease, wire.CohortLease | undefined> = {
  encode: ({ cohort, worker, attempt, until }) => ({
    cohort: cohortCodec.encode(cohort),
    worker,
    attempt,
    untilMs: toInt64(until, "the end of a lease"),
  }),

  /** Throws MESSAGE_INVALID for a message without a lease. */
  decode(message) {
    if (message === undefined) throw invalid("a lease is missing");
    const { cohort, worker, attempt, untilMs } = message;
    return { cohort: cohortCodec.decode(cohort), worker, attempt, until: fromInt64(untilMs, "the end of a lease") };
  },
};

/** Weight versions by policy, as in cohorts and recorded groups. */
export function encodeVersions(versions: Cohort["versions"]): Map<string, bigint> {
  return new Map(Object.entries(versions).map(([policy, version]) => [policy, toInt64(version, "a weight version")]));
}

export function decodeVersions(versions: Map<string, bigint>): Cohort["versions"] {
  return Object.fromEntries([...versions].map(([policy, version]) => [policy, fromInt64(version, "a weight version")]));
}
