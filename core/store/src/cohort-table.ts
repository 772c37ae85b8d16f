import { MrlmError } from "@mrlm/spec";
import type { Cohort, Lease, PlayedRecord } from "@mrlm/spec/host";
import { type Database, insertEach, type Row, type Statement } from "./database.ts";
import type { EncodedEpisode, EncodedGroup, EncodedGroups } from "./encoded-groups.ts";
import type { EpisodeRows } from "./episode-rows.ts";
import { decodeJson, encodeJson } from "./json.ts";

/** Cohort that a lease may still commit: its key, and the keys of its groups by id. */
export interface OpenCohort {
  readonly key: number;
  readonly groups: ReadonlyMap<string, number>;
}

/** Cohort of recorded groups; `isComplete`: with all of them. */
export interface RecordedCohort extends OpenCohort {
  readonly isComplete: boolean;
}

/** Life of cohorts: open, leased, committed or abandoned. Callers wrap each method in a transaction. */
export class CohortTable {
  readonly #database: Database;
  readonly #episodes: EpisodeRows;
  readonly #byId: Statement;
  readonly #byAttempt: Statement;
  readonly #attempts: Statement;
  readonly #insert: Statement;
  readonly #insertGroup: Statement;
  readonly #toLease: Statement;
  readonly #lease: Statement;
  readonly #renew: Statement;
  readonly #commit: Statement;
  readonly #setPlayers: Statement;
  readonly #groups: Statement;
  readonly #counts: Statement;
  readonly #drop: readonly Statement[];

  constructor(database: Database, episodes: EpisodeRows) {
    this.#database = database;
    this.#episodes = episodes;
    this.#byId = database.prepare("SELECT * FROM cohorts WHERE id = ? AND state <> 'abandoned'");
    this.#byAttempt = database.prepare(
      "SELECT key FROM cohorts WHERE id = ? AND attempt = ? AND state = ? /*postgres FOR UPDATE */",
    );
    this.#attempts = database.prepare("SELECT MAX(attempt) AS attempts FROM cohorts WHERE id = ?");
    this.#insert = database.prepare(
      `INSERT INTO cohorts (id, purpose, incarnation, stage, learner, step, refill, place, part, environment, run_step, versions, checksum, plan,
       state, attempt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`,
    );
    this.#insertGroup = database.prepare(
      "INSERT INTO groups (cohort, position, id, task, players) VALUES (?, ?, ?, ?, ?) RETURNING key",
    );
    this.#toLease = database.prepare(
      `SELECT * FROM cohorts WHERE (state = 'open' OR (state = 'leased' AND leased_until <= ?)) AND purpose = 'train'
       ORDER BY key LIMIT ? /*postgres FOR UPDATE SKIP LOCKED */`,
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
    this.#setPlayers = database.prepare("UPDATE groups SET players = ? WHERE key = ?");
    this.#groups = database.prepare("SELECT key, id FROM groups WHERE cohort = ? ORDER BY position");
    this.#counts = database.prepare(
      `SELECT groups.id AS id, COUNT(episodes.key) AS episodes FROM groups
       LEFT JOIN episodes ON episodes.group_key = groups.key AND episodes.attempt = ? WHERE groups.cohort = ? GROUP BY groups.key`,
    );
    const ofCohort = "episode IN (SELECT key FROM episodes WHERE cohort = ?)";
    this.#drop = [
      ...["parts", "turns", "segments"].map((table) => database.prepare(`DELETE FROM ${table} WHERE ${ofCohort}`)),
      database.prepare("DELETE FROM episodes WHERE cohort = ?"),
    ];
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
    const { id, stage, learner, step, refill, place, environment, runStep, versions, checksum, groups } = cohort;
    const inserted = this.#insert.get(
      id,
      "train",
      incarnation,
      stage,
      learner,
      step,
      refill,
      ...place,
      environment,
      runStep,
      encodeJson(versions),
      checksum,
      encodeJson(groups),
      "open",
      // Attempts count on where an abandoned cohort had the id, so that an old lease commits nothing to the new one.
      this.#attempts.get(id)?.["attempts"] ?? 0,
    );
    const key = inserted?.["key"] as number;
    insertEach(
      this.#insertGroup,
      groups.map((group, position) => [key, position, group.id, group.task, null]),
    );
    return true;
  }

  lease(worker: string, limit: number, now: number, ttlMs: number): Lease[] {
    return this.#toLease.all(now, limit).map((row) => {
      const lease = { cohort: toCohort(row), worker, attempt: (row["attempt"] as number) + 1, until: now + ttlMs };
      if (row["attempt"] !== 0) this.#dropEpisodes(row["key"] as number);
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

  /** Marks cohorts that no process has played as abandoned: their learner opens again what it needs. */
  abandonUnplayed(): void {
    const unplayed = "state IN ('open', 'leased') AND purpose = 'train'";
    for (const { key } of this.#database
      .prepare(`SELECT key FROM cohorts WHERE ${unplayed} ORDER BY key /*postgres FOR UPDATE */`)
      .all())
      this.#dropEpisodes(key as number);
    this.#database.exec(`UPDATE cohorts SET state = 'abandoned' WHERE ${unplayed}`);
  }

  /** The cohort of a lease; `undefined` where a commit is late. An expired lease counts as long as there is no later one. */
  committable({ cohort, attempt }: Lease): OpenCohort | undefined {
    const key = this.#byAttempt.get(cohort.id, attempt, "leased")?.["key"] as number | undefined;
    return key === undefined ? undefined : { key, groups: this.#groupKeys(key) };
  }

  /** Whether this lease has committed its cohort: a repeated commit has nothing to add. */
  hasCommitted({ cohort, attempt }: Lease): boolean {
    return this.#byAttempt.get(cohort.id, attempt, "committed") !== undefined;
  }

  /** Adds episodes of a leased cohort, group by group. */
  add(
    { cohort, attempt }: Lease,
    { key, groups }: OpenCohort,
    encoded: EncodedGroups,
    next: Iterable<EncodedEpisode>,
  ): void {
    let last: number | undefined;
    for (const episode of next) {
      const { id, players } = encoded.groups[episode.of] as EncodedGroup;
      const group = groups.get(id);
      if (group === undefined || episode.group !== id)
        throw new MrlmError("STORE_CONFLICT", `Episode ${episode.id} is of no group of cohort ${cohort.id}.`);
      if (episode.of !== last) this.#setPlayers.run(players, group);
      last = episode.of;
      this.#episodes.insert({ cohort: key, group, attempt }, episode, encoded.bytes);
    }
  }

  /** Makes a cohort visible. Throws STORE_CONFLICT where episodes are missing. */
  complete({ cohort, attempt }: Lease, { key }: OpenCohort): void {
    const sizes = new Map(cohort.groups.map(({ id, size }) => [id, size]));
    for (const { id, episodes } of this.#counts.all(attempt, key))
      if (sizes.get(id as string) !== episodes)
        throw new MrlmError(
          "STORE_CONFLICT",
          `Group ${String(id)} has ${String(episodes)} episodes, not ${sizes.get(id as string)}.`,
        );
    this.finish(key);
  }

  finish(key: number): void {
    this.#commit.run(key);
  }

  /** Adds a cohort that was played without a lease; `id` is unique. Nothing leases it, and it is visible after {@link finish}. */
  record(
    played: Omit<PlayedRecord, "groups">,
    groups: readonly EncodedGroup[],
    id: string,
    incarnation: number,
  ): RecordedCohort {
    const { purpose, stage, place, environment, runStep, versions, checksum } = played;
    const inserted = this.#insert.get(
      id,
      purpose,
      incarnation,
      stage,
      null,
      null,
      null,
      place,
      0,
      environment,
      runStep,
      encodeJson(versions),
      checksum,
      "[]",
      "leased",
      1,
    );
    const key = inserted?.["key"] as number;
    insertEach(
      this.#insertGroup,
      groups.map((group, position) => [key, position, group.id, group.task, group.players]),
    );
    return { key, groups: this.#groupKeys(key), isComplete: false };
  }

  /** The cohort of an earlier {@link record} with this id, which may have been interrupted. */
  recorded(id: string): RecordedCohort | undefined {
    const row = this.#byId.get(id);
    if (row === undefined) return undefined;
    const key = row["key"] as number;
    return { key, groups: this.#groupKeys(key), isComplete: row["state"] === "committed" };
  }

  /** Marks the complete cohort of an earlier {@link record} with this id as abandoned. */
  replace(id: string): void {
    this.#database.prepare("UPDATE cohorts SET state = 'abandoned' WHERE id = ? AND state = 'committed'").run(id);
  }

  #groupKeys(cohort: number): ReadonlyMap<string, number> {
    return new Map(this.#groups.all(cohort).map((group) => [group["id"] as string, group["key"] as number]));
  }

  /** Marks evaluations of training processes after a step of the run as abandoned: the run repeats them. */
  abandonAfter(runStep: number): void {
    this.#database
      .prepare(
        `UPDATE cohorts SET state = 'abandoned' WHERE purpose IN ('goal', 'eval') AND run_step > ? AND state <> 'abandoned'
         AND incarnation IN (SELECT id FROM incarnations WHERE purpose = 'train')`,
      )
      .run(runStep);
  }

  /** Deletes episodes of an interrupted attempt. */
  #dropEpisodes(cohort: number): void {
    for (const statement of this.#drop) statement.run(cohort);
  }
}

/** With its members in one order, so that two can be compared as text. */
function normal(cohort: Cohort): Cohort {
  const { id, stage, learner, step, refill, place, environment, runStep, versions, checksum, groups } = cohort;
  const sorted = Object.fromEntries(Object.entries(versions).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  const plan = groups.map((group) => ({ id: group.id, task: group.task, seed: group.seed, size: group.size }));
  return { id, stage, learner, step, refill, place, environment, runStep, versions: sorted, checksum, groups: plan };
}

function toCohort(row: Row): Cohort {
  return normal({
    id: row["id"] as string,
    stage: row["stage"] as string,
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
