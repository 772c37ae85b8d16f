import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { type Cohort, type Lease, MrlmError, type Trajectory } from "@mrlm/spec";
import type { EpisodeRows } from "./episode-rows.ts";
import { decodeJson, encodeJson } from "./json.ts";

type Row = Record<string, SQLOutputValue>;

/** Life of cohorts: open, leased, committed or abandoned. Callers wrap each method in a transaction. */
export class CohortTable {
  readonly #database: DatabaseSync;
  readonly #episodes: EpisodeRows;
  readonly #byId: StatementSync;
  readonly #insert: StatementSync;
  readonly #insertGroup: StatementSync;
  readonly #toLease: StatementSync;
  readonly #lease: StatementSync;
  readonly #renew: StatementSync;
  readonly #commit: StatementSync;
  readonly #groups: StatementSync;
  readonly #counts: StatementSync;

  constructor(database: DatabaseSync, episodes: EpisodeRows) {
    this.#database = database;
    this.#episodes = episodes;
    this.#byId = database.prepare("SELECT * FROM cohorts WHERE id = ? AND state <> 'abandoned'");
    this.#insert = database.prepare(
      `INSERT INTO cohorts (id, purpose, incarnation, learner, step, refill, place, part, environment, run_step, versions, checksum, plan,
       state, attempt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', 0)`,
    );
    this.#insertGroup = database.prepare("INSERT INTO groups (cohort, position, id, task) VALUES (?, ?, ?, ?)");
    this.#toLease = database.prepare(
      "SELECT * FROM cohorts WHERE state = 'open' OR (state = 'leased' AND leased_until <= ?) ORDER BY key LIMIT ?",
    );
    this.#lease = database.prepare(
      "UPDATE cohorts SET state = 'leased', attempt = ?, leased_by = ?, leased_until = ? WHERE key = ?",
    );
    this.#renew = database.prepare(
      "UPDATE cohorts SET leased_until = ? WHERE id = ? AND state = 'leased' AND leased_by = ? AND attempt = ?",
    );
    this.#commit = database.prepare(
      "UPDATE cohorts SET state = 'committed', leased_by = NULL, leased_until = NULL WHERE key = ?",
    );
    this.#groups = database.prepare("SELECT key, id FROM groups WHERE cohort = ? ORDER BY position");
    this.#counts = database.prepare(
      `SELECT groups.id AS id, COUNT(episodes.key) AS episodes FROM groups
       LEFT JOIN episodes ON episodes.group_key = groups.key AND episodes.attempt = ? WHERE cohort = ? GROUP BY groups.key`,
    );
  }

  /** Returns whether the cohort was added; throws STORE_CONFLICT where another one has its id. */
  open(cohort: Cohort, incarnation: number): boolean {
    const known = this.#byId.get(cohort.id);
    if (known !== undefined) {
      if (encodeJson(toCohort(known)) === encodeJson(normal(cohort))) return false;
      throw new MrlmError("STORE_CONFLICT", `Cohort ${cohort.id} was opened before with other members.`, {
        hint: "Two runs write to one store, or the configuration changed. Give each run its own directory.",
      });
    }
    const { id, purpose, learner, step, refill, place, environment, runStep, versions, checksum, groups } = cohort;
    const { lastInsertRowid: key } = this.#insert.run(
      id,
      purpose,
      incarnation,
      learner,
      step,
      refill,
      ...place,
      environment,
      runStep,
      encodeJson(versions),
      checksum,
      encodeJson(groups),
    );
    groups.forEach((group, position) => this.#insertGroup.run(key, position, group.id, group.task));
    return true;
  }

  lease(worker: string, want: number, now: number, ttlMs: number): Lease[] {
    return this.#toLease.all(now, want).map((row) => {
      const lease = { cohort: toCohort(row), worker, attempt: (row["attempt"] as number) + 1, until: now + ttlMs };
      this.#dropEpisodes(row["key"] as number);
      this.#lease.run(lease.attempt, worker, lease.until, row["key"] as number);
      return lease;
    });
  }

  /** Ids of cohorts that could not be renewed. */
  renew(leases: readonly Lease[], until: number): string[] {
    return leases
      .filter(({ cohort, worker, attempt }) => this.#renew.run(until, cohort.id, worker, attempt).changes === 0)
      .map(({ cohort }) => cohort.id);
  }

  /** Ends leases of processes that cannot hold any more: their cohorts can be leased at once. */
  expireAll(): void {
    this.#database.exec("UPDATE cohorts SET leased_until = 0 WHERE state = 'leased'");
  }

  commit({ cohort, attempt }: Lease, trajectories: readonly Trajectory[], isLast: boolean): "accepted" | "late" {
    const row = this.#byId.get(cohort.id);
    // An expired lease counts as long as there is no later one.
    if (row === undefined || row["state"] !== "leased" || row["attempt"] !== attempt) return "late";
    const groups = new Map(this.#groups.all(row["key"] as number).map(({ key, id }) => [id, key as number]));
    for (const trajectory of trajectories) {
      const group = groups.get(trajectory.group);
      if (group === undefined)
        throw new MrlmError("STORE_CONFLICT", `Episode ${trajectory.id} is of no group of cohort ${cohort.id}.`);
      this.#episodes.insert(group, attempt, trajectory);
    }
    if (!isLast) return "accepted";
    const sizes = new Map(cohort.groups.map(({ id, size }) => [id, size]));
    for (const { id, episodes } of this.#counts.all(attempt, row["key"] as number))
      if (sizes.get(id as string) !== episodes)
        throw new MrlmError(
          "STORE_CONFLICT",
          `Group ${String(id)} has ${String(episodes)} episodes, not ${sizes.get(id as string)}.`,
        );
    this.#commit.run(row["key"] as number);
    return "accepted";
  }

  /** Deletes episodes of an interrupted attempt. */
  #dropEpisodes(cohort: number): void {
    const episodes = "SELECT key FROM episodes WHERE group_key IN (SELECT key FROM groups WHERE cohort = ?)";
    for (const table of ["parts", "turns", "segments"])
      this.#database.prepare(`DELETE FROM ${table} WHERE episode IN (${episodes})`).run(cohort);
    this.#database.prepare(`DELETE FROM episodes WHERE key IN (${episodes})`).run(cohort);
  }
}

/** With its members in one order, so that two can be compared as text. */
function normal({
  id,
  purpose,
  learner,
  step,
  refill,
  place,
  environment,
  runStep,
  versions,
  checksum,
  groups,
}: Cohort): Cohort {
  const sorted = Object.fromEntries(Object.entries(versions).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  const plan = groups.map((group) => ({ id: group.id, task: group.task, seed: group.seed, size: group.size }));
  return { id, purpose, learner, step, refill, place, environment, runStep, versions: sorted, checksum, groups: plan };
}

function toCohort(row: Row): Cohort {
  return normal({
    id: row["id"] as string,
    purpose: row["purpose"] as Cohort["purpose"],
    learner: row["learner"] as string,
    step: row["step"] as number,
    refill: row["refill"] as number,
    place: [row["place"] as number, row["part"] as number],
    environment: row["environment"] as string,
    runStep: row["run_step"] as number,
    versions: decodeJson(row["versions"] as string) as Cohort["versions"],
    checksum: row["checksum"] as string | null,
    groups: decodeJson(row["plan"] as string) as Cohort["groups"],
  });
}
