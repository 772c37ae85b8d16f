import type { BufferCounts, LearnerId } from "@mrlm/spec/host";
import { bufferCounts } from "./batch-table.ts";
import type { Database } from "./database.ts";
import { either } from "./sql.ts";
import { STALENESS } from "./views.ts";

/** A member as its row has it: another version may have written other kinds and other capabilities. Long texts are cut. */
export interface StoredMember {
  readonly id: string;
  readonly kind: string;
  readonly address: string | null;
  /** JSON. */
  readonly capabilities: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  /** Milliseconds since 1970. */
  readonly heartbeatAt: number;
}

/** A cohort that a worker has leased. */
export interface StoredLease {
  readonly cohort: string;
  readonly worker: string;
  readonly stage: string;
  readonly environment: string;
  readonly attempt: number;
  readonly groups: number;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** Parts of episodes of the newest batches by the age of their oldest token, in weight versions. */
export interface AgeCount {
  readonly learner: LearnerId;
  readonly policy: string;
  readonly age: number;
  readonly parts: number;
}

/** Processes of a run and what they hold. */
export interface RunWorkers {
  /** Time of the read by the clock of the store, which is that of heartbeats and leases, in milliseconds since 1970. */
  readonly now: number;
  /** In order of their start. */
  readonly members: readonly StoredMember[];
  readonly memberCount: number;
  /** In order of opening. */
  readonly leases: readonly StoredLease[];
  readonly leaseCount: number;
  /** Groups of each learner that no batch has. */
  readonly buffers: readonly (BufferCounts & { readonly learner: LearnerId })[];
  /** Of the newest batches, at most 50; `batches` counts them. */
  readonly staleness: { readonly batches: number; readonly ages: readonly AgeCount[] };
}

/** Members, leases and ages that are listed. */
const LISTED = 500;
/** Characters of a text of a member or lease, and of its capabilities. */
const [TEXT, JSON_TEXT] = [500, 4_000];
/** Batches whose parts are counted: a run may have thousands. */
const BATCHES = 50;

/** A server of Postgres has a clock of its own. */
const NOW = `SELECT ${either("unixepoch('subsec')", "extract(epoch FROM clock_timestamp())")} * 1000.0 AS now`;

const LEASED = "FROM cohorts WHERE state = 'leased' AND leased_by IS NOT NULL";

/** Reads the members, leases and buffers of a store. Times are read as real numbers: a damaged one may be too large for an exact integer. */
export function readWorkers(database: Database): RunWorkers {
  const all = <T>(sql: string): T[] => database.prepare(sql).all() as unknown as T[];
  const count = (from: string): number => all<{ count: number }>(`SELECT COUNT(*) AS count ${from}`)[0]?.count ?? 0;
  const members = all<StoredMember>(
    `SELECT substr(id, 1, ${TEXT}) AS id, substr(kind, 1, ${TEXT}) AS kind, substr(address, 1, ${TEXT}) AS address,
     substr(capabilities, 1, ${JSON_TEXT}) AS capabilities, started_at + 0.0 AS "startedAt", heartbeat_at + 0.0 AS "heartbeatAt"
     FROM members ORDER BY started_at, members.id LIMIT ${LISTED}`,
  );
  const leases = all<StoredLease>(
    `SELECT substr(id, 1, ${TEXT}) AS cohort, substr(leased_by, 1, ${TEXT}) AS worker, substr(stage, 1, ${TEXT}) AS stage,
     substr(environment, 1, ${TEXT}) AS environment, attempt + 0.0 AS attempt, leased_until + 0.0 AS until,
     (SELECT COUNT(*) FROM groups WHERE groups.cohort = cohorts.key) AS groups ${LEASED} ORDER BY key LIMIT ${LISTED}`,
  );
  const learners = all<{ learner: LearnerId }>(
    "SELECT DISTINCT learner FROM cohorts WHERE purpose = 'train' AND state <> 'abandoned' AND learner IS NOT NULL ORDER BY learner",
  );
  const counted = bufferCounts(database);
  const newest = `SELECT key FROM steps WHERE state <> 'abandoned' ORDER BY key DESC LIMIT ${BATCHES}`;
  return {
    now: Math.round(all<{ now: number }>(NOW)[0]?.now ?? 0),
    members,
    memberCount: count("FROM members"),
    leases,
    leaseCount: count(LEASED),
    buffers: learners.map(({ learner }) => ({ learner, ...counted(learner).counts })),
    staleness: {
      batches: count(`FROM (${newest}) AS newest`),
      ages: all<AgeCount>(
        `SELECT steps.learner AS learner, parts.policy AS policy, takes.version - parts.oldest_version + 0.0 AS age, COUNT(*) AS parts
         ${STALENESS} AND steps.key IN (${newest}) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3 LIMIT ${LISTED}`,
      ),
    },
  };
}
