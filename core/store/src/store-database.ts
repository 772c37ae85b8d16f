import { type Channel, serveCalls, toKnownError } from "@mrlm/process";
import type { Credit, JsonObject, ModelId, TrajectoryGroup } from "@mrlm/spec";
import type {
  BufferCounts,
  Cohort,
  EpisodeStore,
  LearnerId,
  Lease,
  Member,
  PlayedRecord,
  StoreEvent,
  TakePosition,
  TakeRecord,
  TakeRule,
  WeightsRow,
} from "@mrlm/spec/host";
import { BatchTable, type LoggedBatch } from "./batch-table.ts";
import { CohortTable } from "./cohort-table.ts";
import type { Statement, StoreConnection } from "./database.ts";
import type { EncodedEpisode, EncodedGroups } from "./encoded-groups.ts";
import { EpisodeRows } from "./episode-rows.ts";
import { encodeJson } from "./json.ts";
import { MemberTable, type NewMember } from "./member-table.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { storeProviderOf } from "./store-provider.ts";
import type { StoreSettings } from "./store-settings.ts";
import { inTransactions } from "./transaction.ts";

/** Name of the store in the directory of a run. */
export const STORE_FILE = "episodes.sqlite";

/** Episode store over one connection, synchronous. */
export class StoreDatabase {
  readonly #connection: StoreConnection;
  readonly #incarnation: number;
  readonly #cohorts: CohortTable;
  readonly #batches: BatchTable;
  readonly #episodes: EpisodeRows;
  readonly #members: MemberTable;
  readonly #now: () => number;
  readonly #event: Statement;
  #records = 0;

  /** @param now milliseconds since 1970; default: the clock of the database */
  constructor(settings: StoreSettings, now?: () => number) {
    const { path, run, busyMs = 10_000, purpose, endsLeases, resumedAt } = settings;
    this.#connection = storeProviderOf(settings)?.open(settings) ?? new SqliteConnection(path, run, busyMs);
    const { database } = this.#connection;
    this.#now = now ?? (() => this.#connection.now());
    this.#episodes = new EpisodeRows(database);
    this.#cohorts = new CohortTable(database, this.#episodes);
    this.#batches = new BatchTable(database, this.#episodes);
    this.#members = new MemberTable(database);
    this.#event = database.prepare("INSERT INTO events (at, kind, subject, step) VALUES (?, ?, ?, ?)");
    this.#incarnation = this.#write(() => {
      if (endsLeases) this.#cohorts.abandonUnplayed();
      if (resumedAt !== undefined) {
        this.#cohorts.abandonAfter(resumedAt);
        database.prepare("DELETE FROM metrics WHERE step > ?").run(resumedAt);
      }
      const insert = database.prepare("INSERT INTO incarnations (purpose, started_at) VALUES (?, ?) RETURNING id");
      return insert.get(purpose, this.#now())?.["id"] as number;
    }, "log");
  }

  /** Calls a listener after changes of other processes, as far as the database reports them. */
  onChange(listener: () => void): void {
    this.#connection.onChange?.(listener);
  }

  open(cohort: Cohort): void {
    this.#write(() => {
      if (this.#cohorts.open(cohort, this.#incarnation)) this.#log("opened", cohort.id, cohort.step);
    }, "log");
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

  commit(
    lease: Lease,
    groups: EncodedGroups,
    isLast: boolean,
    take?: Parameters<EpisodeStore["take"]>,
  ): "accepted" | "late" | LoggedBatch {
    const { id, step } = lease.cohort;
    const result = inTransactions<EncodedEpisode, "accepted" | "late">(
      this.#connection,
      groups.episodes,
      (next, isEnd) => {
        const cohort = this.#cohorts.committable(lease);
        if (cohort === undefined) return this.#cohorts.hasCommitted(lease) ? "accepted" : "late";
        this.#cohorts.add(lease, cohort, groups, next);
        if (isEnd() && isLast) {
          this.#cohorts.complete(lease, cohort);
          this.#log("committed", id, step);
        }
        return undefined;
      },
    );
    if (result === "late") {
      this.#write(() => this.#log("late", id, step));
      return "late";
    }
    const batch = isLast && take !== undefined ? this.take(...take) : "unready";
    return typeof batch === "string" ? "accepted" : batch;
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
    }, "log");
  }

  /** Groups of a batch by their keys, token for token. */
  read(keys: readonly number[]): TrajectoryGroup[] {
    return this.#connection.read(() => keys.map((key) => this.#batches.read(key)));
  }

  refuse(learner: LearnerId, at: TakePosition, groups: readonly string[]): void {
    this.#write(() => {
      this.#batches.refuse(learner, at, groups);
      this.#log("refused", learner, at.step);
    });
  }

  settle(learner: LearnerId, step: number, credits: readonly Credit[], isApplied: boolean): void {
    inTransactions(this.#connection, credits, (next, isEnd) => {
      this.#batches.credit(learner, step, next);
      if (!isEnd()) return;
      if (isApplied) this.#batches.apply(learner, step);
      this.#log("settled", learner, step);
    });
  }

  abandon(learner: LearnerId, fromStep: number): void {
    this.#write(() => {
      this.#batches.abandon(learner, fromStep);
      this.#log("abandoned", learner, fromStep);
    }, "log");
  }

  buffer(learner: LearnerId): BufferCounts {
    return this.#connection.read(() => this.#batches.buffer(learner));
  }

  record(played: Omit<PlayedRecord, "groups">, encoded: EncodedGroups): void {
    const { purpose, stage, runStep, place } = played;
    const id = played.id ?? [purpose, this.#incarnation, runStep, place, stage, ++this.#records].join("/");
    const { groups, episodes, bytes } = encoded;
    const cohort = this.#write(() => {
      if (played.isReplacement === true) this.#cohorts.replace(id);
      return this.#cohorts.recorded(id) ?? this.#cohorts.record(played, groups, id, this.#incarnation);
    });
    if (cohort.isComplete) return;
    inTransactions(this.#connection, episodes, (next, isEnd) => {
      for (const episode of next) {
        const group = cohort.groups.get(groups[episode.of]?.id ?? "") as number;
        this.#episodes.insert({ cohort: cohort.key, group, attempt: 1 }, episode, bytes);
      }
      if (!isEnd()) return;
      this.#cohorts.finish(cohort.key);
      this.#log("recorded", stage, runStep);
    });
  }

  announce({ policy, version, step, checksum, location }: WeightsRow): void {
    this.#write(() => {
      const { database } = this.#connection;
      // A publication that is announced again is the newest one.
      const drop = database.prepare("DELETE FROM weights WHERE incarnation = ? AND policy = ? AND version = ?");
      drop.run(this.#incarnation, policy, version);
      const insert = database.prepare(
        "INSERT INTO weights (incarnation, policy, version, step, checksum, location) VALUES (?, ?, ?, ?, ?, ?)",
      );
      insert.run(this.#incarnation, policy, version, step, checksum, location ?? null);
      this.#log("weights", policy, step);
    });
  }

  newest(policy: ModelId): WeightsRow | undefined {
    const row = this.#connection.read(() =>
      this.#prepare("SELECT * FROM weights WHERE policy = ? ORDER BY key DESC LIMIT 1").get(policy),
    );
    if (row === undefined) return undefined;
    const { version, step, checksum, location } = row as unknown as WeightsRow & { readonly location: string | null };
    return { policy, version, step, checksum, ...(location === null ? {} : { location }) };
  }

  mirror(rows: readonly JsonObject[]): void {
    this.#write(() => {
      const insert = this.#prepare(
        `INSERT INTO metrics (step, content) SELECT CAST(:step AS BIGINT), CAST(:content AS TEXT)
         WHERE NOT EXISTS (SELECT 1 FROM metrics WHERE step = :step AND content = :content)`,
      );
      for (const row of rows) insert.run({ step: Number(row["step"] ?? 0), content: encodeJson(row) });
    });
  }

  prune(beforeRunStep: number): void {
    // A group of an asynchronous run may be taken long after the step for which it was opened.
    const selected = this.#prepare(
      `SELECT key FROM cohorts WHERE run_step < :step AND has_tokens = 1 AND purpose <> 'collect'
       AND (purpose <> 'train' OR state = 'abandoned' OR EXISTS (SELECT 1 FROM groups JOIN batches ON batches.group_key = groups.key
         WHERE groups.cohort = cohorts.key))
       AND NOT EXISTS (SELECT 1 FROM groups JOIN batches ON batches.group_key = groups.key AND batches.is_abandoned = 0
         JOIN takes ON takes.step = batches.step AND takes.refill = batches.refill
         WHERE groups.cohort = cohorts.key AND takes.run_step >= :step)`,
    );
    const cohorts = this.#connection.read(() => selected.all({ step: beforeRunStep }));
    const ofCohort = "SELECT key FROM episodes WHERE cohort = ?";
    const drop = this.#prepare(`UPDATE segments SET tokens = NULL, logprobs = NULL WHERE episode IN (${ofCohort})`);
    const mark = this.#prepare("UPDATE cohorts SET has_tokens = 0 WHERE key = ?");
    if (cohorts.length === 0) return;
    inTransactions(this.#connection, cohorts, (next) => {
      for (const { key } of next) {
        drop.run(key as number);
        mark.run(key as number);
      }
    });
  }

  join(member: NewMember): void {
    this.#write(() => this.#members.join(member, this.#now()));
  }

  leave(id: string): void {
    this.#write(() => this.#members.leave(id));
  }

  members(): Member[] {
    return this.#connection.read(() => this.#members.all());
  }

  /** Up to 1,000 events after a number. */
  events(after: number): StoreEvent[] {
    const sql = "SELECT number, kind, subject, step FROM events WHERE number > ? ORDER BY number LIMIT 1000";
    return this.#connection.read(() => this.#prepare(sql).all(after)) as unknown as StoreEvent[];
  }

  flush(): void {
    this.#connection.flush();
  }

  close(): void {
    this.#connection.close();
  }

  #prepare(sql: string): Statement {
    return this.#connection.read(() => this.#connection.database.prepare(sql));
  }

  #write<T>(work: () => T, lock?: "log"): T {
    return this.#connection.transaction(work, lock);
  }

  #log(kind: StoreEvent["kind"], subject: string, step: number): void {
    this.#event.run(this.#now(), kind, subject, step);
  }
}

/** Methods of a served store. The notice of a call to none of them: another process changed the store. */
export interface ServedDatabase extends Omit<StoreDatabase, "onChange" | typeof Symbol.dispose> {
  /** Opens the store; the first call. */
  start(settings: StoreSettings): void;
}

/** Opens a store for the other side of a channel, and runs its calls one after the other. @param now clock, in milliseconds since 1970 */
export function serveDatabase(channel: Channel, now?: () => number): void {
  let database: StoreDatabase;
  const start = (settings: StoreSettings): void => {
    database = new StoreDatabase(settings, now);
    database.onChange(() => notify(undefined));
  };
  const notify = serveCalls<ServedDatabase>(channel, {
    answer: (method, args) => {
      if (method === "start") return start(args[0] as StoreSettings);
      return (database[method] as (...given: readonly unknown[]) => unknown).apply(database, args as unknown[]);
    },
    toSent: toKnownError,
  });
}
