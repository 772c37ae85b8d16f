import type { DatabaseSync, StatementSync } from "node:sqlite";
import type {
  Cohort,
  Credit,
  EpisodePurpose,
  LearnerId,
  Lease,
  ModelId,
  StoreEvent,
  TakenBatch,
  TakePosition,
  TakeRule,
  Trajectory,
  WeightsRow,
} from "@mrlm/spec";
import { BatchTable } from "./batch-table.ts";
import { CohortTable } from "./cohort-table.ts";
import { EpisodeRows } from "./episode-rows.ts";
import { openDatabase, reported } from "./open-database.ts";
import { transaction } from "./transaction.ts";

/** Settings of an opened store. */
export interface StoreSettings {
  readonly path: string;
  /** Id of the run; a store of another run is refused. */
  readonly run: string;
  readonly purpose: EpisodePurpose;
  /** Ends all leases: the caller holds the run's lock, so that no earlier process of the run is alive. */
  readonly endsLeases: boolean;
  /** Time that a write waits for another process, in milliseconds (default 10,000). */
  readonly busyMs?: number;
}

/** Episode store of one SQLite file, synchronous. Each method is one transaction. */
export class StoreDatabase {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #incarnation: number;
  readonly #cohorts: CohortTable;
  readonly #batches: BatchTable;
  readonly #now: () => number;
  readonly #event: StatementSync;

  /** @param now milliseconds since 1970 */
  constructor({ path, run, purpose, endsLeases, busyMs = 10_000 }: StoreSettings, now: () => number = Date.now) {
    this.#path = path;
    this.#now = now;
    this.#database = openDatabase(path, run, busyMs);
    const episodes = new EpisodeRows(this.#database);
    this.#cohorts = new CohortTable(this.#database, episodes);
    this.#batches = new BatchTable(this.#database, episodes);
    this.#event = this.#database.prepare("INSERT INTO events (at, kind, subject, step) VALUES (?, ?, ?, ?)");
    this.#incarnation = this.#write(() => {
      if (endsLeases) this.#cohorts.expireAll();
      const insert = this.#database.prepare("INSERT INTO incarnations (purpose, started_at) VALUES (?, ?)");
      return Number(insert.run(purpose, now()).lastInsertRowid);
    });
  }

  open(cohort: Cohort): void {
    this.#write(() => {
      if (this.#cohorts.open(cohort, this.#incarnation)) this.#log("opened", cohort.id, cohort.step);
    });
  }

  lease(worker: string, want: number, ttlMs: number): Lease[] {
    return this.#write(() => {
      const leases = this.#cohorts.lease(worker, want, this.#now(), ttlMs);
      for (const { cohort } of leases) this.#log("leased", cohort.id, cohort.step);
      return leases;
    });
  }

  renew(leases: readonly Lease[], ttlMs: number): string[] {
    return this.#write(() => this.#cohorts.renew(leases, this.#now() + ttlMs));
  }

  commit(lease: Lease, trajectories: readonly Trajectory[], isLast: boolean): "accepted" | "late" {
    return this.#write(() => {
      const result = this.#cohorts.commit(lease, trajectories, isLast);
      if (result === "late" || isLast)
        this.#log(result === "late" ? "late" : "committed", lease.cohort.id, lease.cohort.step);
      return result;
    });
  }

  take(learner: LearnerId, at: TakePosition, count: number, rule: TakeRule): TakenBatch | undefined {
    return this.#write(() => {
      const batch = this.#batches.take(learner, at, count, rule);
      if (batch !== undefined && !batch.isReplayed) this.#log("taken", learner, at.step);
      return batch;
    });
  }

  refuse(learner: LearnerId, at: TakePosition, groups: readonly string[]): void {
    this.#write(() => {
      this.#batches.refuse(learner, at, groups);
      this.#log("refused", learner, at.step);
    });
  }

  settle(learner: LearnerId, step: number, credits: readonly Credit[]): void {
    this.#write(() => {
      this.#batches.settle(learner, step, credits);
      this.#log("settled", learner, step);
    });
  }

  abandon(learner: LearnerId, fromStep: number): void {
    this.#write(() => {
      this.#batches.abandon(learner, fromStep);
      this.#log("abandoned", learner, fromStep);
    });
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

  /** Up to 1,000 events after a number. */
  events(after: number): StoreEvent[] {
    return this.#read("SELECT number, kind, subject, step FROM events WHERE number > ? ORDER BY number LIMIT 1000").all(
      after,
    ) as unknown as StoreEvent[];
  }

  flush(): void {
    reported(this.#path, () => this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)"));
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
