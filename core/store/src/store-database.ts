import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import type {
  BufferCounts,
  Cohort,
  Credit,
  EpisodePurpose,
  JsonObject,
  LearnerId,
  Lease,
  Member,
  ModelId,
  PlayedRecord,
  StoreEvent,
  TakePosition,
  TakeRecord,
  TakeRule,
  TrajectoryGroup,
  WeightsRow,
} from "@mrlm/spec";
import { BatchTable, type LoggedBatch } from "./batch-table.ts";
import { CohortTable } from "./cohort-table.ts";
import type { EncodedGroups } from "./encoded-groups.ts";
import { EpisodeRows } from "./episode-rows.ts";
import { encodeJson } from "./json.ts";
import { MemberTable, type NewMember } from "./member-table.ts";
import { openDatabase, reported } from "./open-database.ts";
import { inTransactions, transaction } from "./transaction.ts";

type Row = Record<string, SQLOutputValue>;

/** Name of the store in the directory of a run. */
export const STORE_FILE = "episodes.sqlite";

/** Settings of an opened store. */
export interface StoreSettings {
  readonly path: string;
  /** Id of the run; a store of another run is refused. Left out: any store. */
  readonly run?: string;
  readonly purpose: EpisodePurpose;
  /** Abandons the cohorts that nothing has played: the caller holds the run's lock, and opens again what it needs. */
  readonly endsLeases: boolean;
  /** Step of the checkpoint from which the run resumes. What training processes recorded after it is marked as replayed. */
  readonly resumedAt?: number;
  /** Time that a write waits for another process, in milliseconds (default 10,000). */
  readonly busyMs?: number;
}

/** Episode store of one SQLite file, synchronous. */
export class StoreDatabase {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #incarnation: number;
  readonly #cohorts: CohortTable;
  readonly #batches: BatchTable;
  readonly #episodes: EpisodeRows;
  readonly #members: MemberTable;
  readonly #now: () => number;
  readonly #event: StatementSync;
  #records = 0;

  /** @param now milliseconds since 1970 */
  constructor(settings: StoreSettings, now: () => number = Date.now) {
    const { path, run, purpose, endsLeases, resumedAt, busyMs = 10_000 } = settings;
    this.#path = path;
    this.#now = now;
    this.#database = openDatabase(path, run, busyMs);
    this.#episodes = new EpisodeRows(this.#database);
    this.#cohorts = new CohortTable(this.#database, this.#episodes);
    this.#batches = new BatchTable(this.#database, this.#episodes);
    this.#members = new MemberTable(this.#database);
    this.#event = this.#database.prepare("INSERT INTO events (at, kind, subject, step) VALUES (?, ?, ?, ?)");
    this.#incarnation = this.#write(() => {
      if (endsLeases) this.#cohorts.abandonUnplayed();
      if (resumedAt !== undefined) {
        this.#cohorts.abandonAfter(resumedAt);
        this.#database.prepare("DELETE FROM metrics WHERE step > ?").run(resumedAt);
      }
      const insert = this.#database.prepare("INSERT INTO incarnations (purpose, started_at) VALUES (?, ?)");
      return Number(insert.run(purpose, now()).lastInsertRowid);
    });
  }

  open(cohort: Cohort): void {
    this.#write(() => {
      if (this.#cohorts.open(cohort, this.#incarnation)) this.#log("opened", cohort.id, cohort.step);
    });
  }

  lease(worker: string, limit: number, ttlMs: number): Lease[] {
    return this.#write(() => {
      const leases = this.#cohorts.lease(worker, limit, this.#now(), ttlMs);
      for (const { cohort } of leases) this.#log("leased", cohort.id, cohort.step);
      return leases;
    });
  }

  renew(leases: readonly Lease[], ttlMs: number): string[] {
    return this.#write(() => this.#cohorts.renew(leases, this.#now() + ttlMs));
  }

  commit(lease: Lease, groups: EncodedGroups, isLast: boolean): "accepted" | "late" {
    const { id, step } = lease.cohort;
    const result = reported(this.#path, () =>
      inTransactions(this.#database, groups.episodes, (next, isEnd) => {
        const cohort = this.#cohorts.committable(lease);
        if (cohort === undefined) return this.#cohorts.hasCommitted(lease) ? "accepted" : "late";
        this.#cohorts.add(lease, cohort, groups, next);
        if (isEnd() && isLast) {
          this.#cohorts.complete(lease, cohort);
          this.#log("committed", id, step);
        }
        return undefined;
      }),
    );
    if (result === "late") this.#write(() => this.#log("late", id, step));
    return result ?? "accepted";
  }

  take(
    learner: LearnerId,
    at: TakePosition,
    count: number,
    rule: TakeRule,
    record: TakeRecord,
    appliedBefore = at.step,
  ): LoggedBatch | "unready" | "outdated" {
    return this.#write(() => {
      const batch = this.#batches.take(this.#incarnation, learner, at, count, rule, record, appliedBefore);
      if (typeof batch !== "string") this.#log(batch.isReplayed ? "replayed" : "taken", learner, at.step);
      return batch;
    });
  }

  /** Groups of a batch by their keys, token for token. */
  read(keys: readonly number[]): TrajectoryGroup[] {
    return reported(this.#path, () => keys.map((key) => this.#batches.read(key)));
  }

  refuse(learner: LearnerId, at: TakePosition, groups: readonly string[]): void {
    this.#write(() => {
      this.#batches.refuse(learner, at, groups);
      this.#log("refused", learner, at.step);
    });
  }

  settle(learner: LearnerId, step: number, credits: readonly Credit[], isApplied: boolean): void {
    reported(this.#path, () =>
      inTransactions(this.#database, credits, (next, isEnd) => {
        this.#batches.credit(learner, step, next);
        if (!isEnd()) return;
        if (isApplied) this.#batches.apply(learner, step);
        this.#log("settled", learner, step);
      }),
    );
  }

  abandon(learner: LearnerId, fromStep: number): void {
    this.#write(() => {
      this.#batches.abandon(learner, fromStep);
      this.#log("abandoned", learner, fromStep);
    });
  }

  buffer(learner: LearnerId): BufferCounts {
    return reported(this.#path, () => this.#batches.buffer(learner));
  }

  record(played: Omit<PlayedRecord, "groups">, encoded: EncodedGroups): void {
    const { purpose, stage, runStep, place } = played;
    const id = played.id ?? [purpose, this.#incarnation, runStep, place, stage, ++this.#records].join("/");
    const { groups, episodes, bytes } = encoded;
    const cohort = this.#write(
      () => this.#cohorts.recorded(id) ?? this.#cohorts.record(played, groups, id, this.#incarnation),
    );
    if (cohort.isComplete) return;
    reported(this.#path, () =>
      inTransactions(this.#database, episodes, (next, isEnd) => {
        for (const episode of next) {
          const group = cohort.groups.get(groups[episode.of]?.id ?? "") as number;
          this.#episodes.insert({ cohort: cohort.key, group, attempt: 1 }, episode, bytes);
        }
        if (!isEnd()) return;
        this.#cohorts.finish(cohort.key);
        this.#log("recorded", stage, runStep);
      }),
    );
  }

  announce({ policy, version, step, checksum, location }: WeightsRow): void {
    this.#write(() => {
      this.#database
        .prepare(
          "INSERT OR REPLACE INTO weights (incarnation, policy, version, step, checksum, location) VALUES (?, ?, ?, ?, ?, ?)",
        )
        .run(this.#incarnation, policy, version, step, checksum, location ?? null);
      this.#log("weights", policy, step);
    });
  }

  newest(policy: ModelId): WeightsRow | undefined {
    const row = this.#read("SELECT * FROM weights WHERE policy = ? ORDER BY key DESC LIMIT 1").get(policy);
    if (row === undefined) return undefined;
    const { version, step, checksum, location } = row as unknown as WeightsRow & { readonly location: string | null };
    return { policy, version, step, checksum, ...(location === null ? {} : { location }) };
  }

  mirror(rows: readonly JsonObject[]): void {
    this.#write(() => {
      const insert = this.#database.prepare(
        `INSERT INTO metrics (step, content) SELECT :step, :content
         WHERE NOT EXISTS (SELECT 1 FROM metrics WHERE step = :step AND content = :content)`,
      );
      for (const row of rows) insert.run({ step: Number(row["step"] ?? 0), content: encodeJson(row) });
    });
  }

  prune(beforeRunStep: number): void {
    // A group of an asynchronous run may be taken long after the step for which it was opened.
    const cohorts = this.#read(
      `SELECT key FROM cohorts WHERE run_step < :step AND has_tokens = 1 AND purpose <> 'collect'
       AND (purpose <> 'train' OR state = 'abandoned' OR EXISTS (SELECT 1 FROM groups JOIN batches ON batches.group_key = groups.key
         WHERE groups.cohort = cohorts.key))
       AND NOT EXISTS (SELECT 1 FROM groups JOIN batches ON batches.group_key = groups.key AND NOT batches.is_abandoned
         JOIN takes ON takes.step = batches.step AND takes.refill = batches.refill
         WHERE groups.cohort = cohorts.key AND takes.run_step >= :step)`,
    ).all({ step: beforeRunStep });
    const ofCohort = "SELECT key FROM episodes WHERE cohort = ?";
    const drop = this.#read(`UPDATE segments SET tokens = NULL, logprobs = NULL WHERE episode IN (${ofCohort})`);
    const mark = this.#read("UPDATE cohorts SET has_tokens = 0 WHERE key = ?");
    if (cohorts.length === 0) return;
    reported(this.#path, () =>
      inTransactions(this.#database, cohorts, (next) => {
        for (const { key } of next) {
          drop.run(key as number);
          mark.run(key as number);
        }
      }),
    );
  }

  join(member: NewMember): void {
    this.#write(() => this.#members.join(member, this.#now()));
  }

  leave(id: string): void {
    this.#write(() => this.#members.leave(id));
  }

  members(): Member[] {
    return reported(this.#path, () => this.#members.all());
  }

  /** Up to 1,000 events after a number. */
  events(after: number): StoreEvent[] {
    return this.#read("SELECT number, kind, subject, step FROM events WHERE number > ? ORDER BY number LIMIT 1000").all(
      after,
    ) as unknown as StoreEvent[];
  }

  flush(): void {
    reported(this.#path, () => {
      const { log, checkpointed } = this.#database.prepare("PRAGMA wal_checkpoint(PASSIVE)").get() as Row;
      if (log !== checkpointed) this.#syncLog();
    });
  }

  /** Syncs the log by a commit of one change: where a reader keeps a checkpoint from the end of the log, the checkpoint may sync nothing. */
  #syncLog(): void {
    const count = Number(this.#database.prepare("PRAGMA user_version").get()?.["user_version"]);
    this.#database.exec("PRAGMA synchronous = FULL");
    try {
      this.#database.exec(`PRAGMA user_version = ${(count + 1) % 1_000_000}`);
    } finally {
      this.#database.exec("PRAGMA synchronous = NORMAL");
    }
  }

  close(): void {
    this.#database.close();
  }

  #read(sql: string): StatementSync {
    return reported(this.#path, () => this.#database.prepare(sql));
  }

  #write<T>(work: () => T): T {
    return reported(this.#path, () => transaction(this.#database, work));
  }

  #log(kind: StoreEvent["kind"], subject: string, step: number): void {
    this.#event.run(this.#now(), kind, subject, step);
  }
}
