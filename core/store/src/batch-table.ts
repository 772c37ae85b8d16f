import { type Credit, MrlmError, type Trajectory, type TrajectoryGroup } from "@mrlm/spec";
import type { BufferCounts, LearnerId, TakenBatch, TakePosition, TakeRecord, TakeRule } from "@mrlm/spec/host";
import { type Database, insertEach, type Row, type Statement } from "./database.ts";
import type { EpisodeRows } from "./episode-rows.ts";
import { decodeJson, encodeJson } from "./json.ts";
import { bytesOf } from "./runs.ts";

/** A group of a batch by its key and by what its caller knows of it. */
export interface LoggedGroup {
  readonly key: number;
  readonly id: string;
  /** Id of its cohort. */
  readonly cohort: string;
}

/** A batch of which no episode was read. */
export type LoggedBatch = Omit<TakenBatch, "groups"> & { readonly groups: readonly LoggedGroup[] };

const LOGGED_GROUP = "groups.key AS key, groups.id AS id, cohorts.id AS cohort";

const IN_NO_BATCH = `NOT EXISTS (SELECT 1 FROM batches
      WHERE batches.learner = :learner AND batches.group_key = groups.key AND batches.is_abandoned = 0)`;

/**
 * Prepares the count of the groups of a learner that no batch has, among the cohorts from a key on. `oldest` is the key of the first such cohort.
 */
export function bufferCounts(
  database: Database,
): (learner: LearnerId, from?: number) => { readonly counts: BufferCounts; readonly oldest: number | undefined } {
  // The learner is compared as an expression, so that SQLite searches the range of keys and not the index of learners, in which it meets all of their cohorts.
  const waiting = database.prepare(
    `SELECT cohorts.key AS key, cohorts.state AS state FROM cohorts CROSS JOIN groups ON groups.cohort = cohorts.key
     WHERE cohorts.state <> 'abandoned' AND cohorts.purpose = 'train' AND cohorts.learner || '' = :learner AND cohorts.key >= :from
     AND ${IN_NO_BATCH} ORDER BY cohorts.key`,
  );
  return (learner, from = 0) => {
    const counts = { open: 0, leased: 0, ready: 0 };
    const rows = waiting.all({ learner, from });
    for (const { state } of rows) counts[state === "committed" ? "ready" : (state as "open" | "leased")]++;
    return { counts, oldest: rows[0]?.["key"] as number | undefined };
  };
}

/** Log of batches: a group is in at most one batch of a learner. Callers wrap each method in a transaction. */
export class BatchTable {
  readonly #episodes: EpisodeRows;
  readonly #step: Statement;
  readonly #insertStep: Statement;
  readonly #take: Statement;
  readonly #insertTake: Statement;
  readonly #replay: Statement;
  readonly #applyEarlier: Statement;
  readonly #ofCohorts: Statement;
  readonly #opened: Statement;
  readonly #oldest: Statement;
  readonly #unfinished: Statement;
  readonly #otherWeights: Statement;
  readonly #insertBatch: Statement;
  readonly #logged: Statement;
  readonly #deleted: Statement;
  readonly #group: Statement;
  readonly #groupEpisodes: Statement;
  readonly #refuse: Statement;
  readonly #episodesOfBatch: Statement;
  readonly #credit: Statement;
  readonly #apply: Statement;
  readonly #abandonBatches: Statement;
  readonly #abandonSteps: Statement;
  readonly #abandonCohorts: Statement;
  readonly #buffer: ReturnType<typeof bufferCounts>;
  /** Key of the first cohort of a learner that may have a group that no batch has: earlier ones are not looked at again. */
  readonly #oldestKeys = new Map<LearnerId, number>();

  constructor(database: Database, episodes: EpisodeRows) {
    this.#episodes = episodes;
    this.#step = database.prepare("SELECT * FROM steps WHERE learner = ? AND step = ? AND state <> 'abandoned'");
    this.#insertStep = database.prepare(
      "INSERT INTO steps (learner, step, incarnation, state, checksum) VALUES (?, ?, ?, 'taken', ?) RETURNING key",
    );
    this.#take = database.prepare("SELECT * FROM takes WHERE step = ? AND refill = ?");
    this.#insertTake = database.prepare("INSERT INTO takes VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    this.#replay = database.prepare("UPDATE steps SET replays = replays + 1 WHERE key = ?");
    this.#applyEarlier = database.prepare(
      "UPDATE steps SET state = 'applied' WHERE learner = ? AND step < ? AND state = 'taken'",
    );
    const visible = `SELECT ${LOGGED_GROUP} FROM cohorts CROSS JOIN groups ON groups.cohort = cohorts.key
      WHERE cohorts.state = 'committed' AND cohorts.purpose = 'train' AND cohorts.learner = :learner
      AND ${IN_NO_BATCH}`;
    this.#ofCohorts = database.prepare(
      `${visible} AND cohorts.step = :step AND cohorts.refill = :refill ORDER BY cohorts.place, cohorts.part, groups.position LIMIT :count`,
    );
    this.#oldest = database.prepare(
      `${visible} AND cohorts.key >= :from ORDER BY cohorts.key, groups.position LIMIT :count`,
    );
    // A cohort that was opened again has a new key, and keeps its part. The learner is an expression for the reason of `bufferCounts`.
    this.#opened = database.prepare(
      `SELECT ${LOGGED_GROUP}, cohorts.state AS state FROM cohorts CROSS JOIN groups ON groups.cohort = cohorts.key
       WHERE cohorts.state <> 'abandoned' AND cohorts.purpose = 'train' AND cohorts.learner || '' = :learner AND cohorts.key >= :from
       AND ${IN_NO_BATCH} ORDER BY cohorts.part, cohorts.key, groups.position LIMIT :count`,
    );
    const ofPosition = "SELECT 1 FROM cohorts WHERE learner = ? AND step = ? AND refill = ?";
    this.#unfinished = database.prepare(`${ofPosition} AND state IN ('open', 'leased')`);
    this.#otherWeights = database.prepare(`${ofPosition} AND state <> 'abandoned' AND checksum IS DISTINCT FROM ?`);
    this.#insertBatch = database.prepare(
      "INSERT INTO batches (group_key, learner, step, refill, position) VALUES (?, ?, ?, ?, ?)",
    );
    this.#logged = database.prepare(
      `SELECT ${LOGGED_GROUP}, batches.is_refused AS is_refused FROM batches JOIN groups ON groups.key = batches.group_key
       JOIN cohorts ON cohorts.key = groups.cohort WHERE batches.step = ? AND batches.refill = ? ORDER BY batches.position`,
    );
    this.#deleted = database.prepare(
      `SELECT cohorts.run_step AS run_step FROM batches JOIN groups ON groups.key = batches.group_key
       JOIN cohorts ON cohorts.key = groups.cohort WHERE batches.step = ? AND cohorts.has_tokens = 0 LIMIT 1`,
    );
    this.#group = database.prepare("SELECT id, task, players FROM groups WHERE key = ?");
    this.#groupEpisodes = database.prepare(
      `SELECT episodes.*, groups.id AS group_id FROM episodes JOIN groups ON groups.key = episodes.group_key
       WHERE group_key = ? ORDER BY member`,
    );
    this.#refuse = database.prepare(
      `UPDATE batches SET is_refused = 1 WHERE step = ? AND refill = ?
       AND EXISTS (SELECT 1 FROM groups WHERE groups.key = batches.group_key AND groups.id = ?)`,
    );
    this.#episodesOfBatch = database.prepare(
      `SELECT episodes.key AS key, episodes.id AS id FROM batches CROSS JOIN episodes ON episodes.group_key = batches.group_key
       WHERE batches.step = ?`,
    );
    this.#credit = database.prepare(
      `INSERT INTO credits (step, episode, agent, advantage, advantages, logprobs) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (step, episode, agent)
       DO UPDATE SET advantage = excluded.advantage, advantages = excluded.advantages, logprobs = excluded.logprobs`,
    );
    this.#apply = database.prepare("UPDATE steps SET state = 'applied' WHERE key = ?");
    this.#abandonBatches = database.prepare(
      `UPDATE batches SET is_abandoned = 1
       WHERE step IN (SELECT key FROM steps WHERE learner = ? AND step >= ? AND state <> 'abandoned')`,
    );
    this.#abandonSteps = database.prepare(
      "UPDATE steps SET state = 'abandoned' WHERE learner = ? AND step >= ? AND state <> 'abandoned'",
    );
    this.#abandonCohorts = database.prepare(
      `UPDATE cohorts SET state = 'abandoned' WHERE purpose = 'train' AND learner = ? AND (step >= ? OR step = 0) AND state <> 'abandoned'
       AND NOT EXISTS (SELECT 1 FROM groups JOIN batches ON batches.group_key = groups.key
         WHERE groups.cohort = cohorts.key AND batches.is_abandoned = 0)`,
    );
    this.#buffer = bufferCounts(database);
  }

  /** Groups of a learner that no batch has. */
  buffer(learner: LearnerId): BufferCounts {
    const { counts, oldest } = this.#buffer(learner, this.#oldestKeys.get(learner));
    if (oldest !== undefined) this.#oldestKeys.set(learner, oldest);
    return counts;
  }

  take(
    incarnation: number,
    learner: LearnerId,
    at: TakePosition,
    count: number,
    rule: TakeRule,
    record: TakeRecord,
    appliedBefore: number,
  ): LoggedBatch | "unready" | "outdated" {
    const logged = this.logged(learner, at, count, rule);
    const known = this.#step.get(learner, at.step);
    if (logged !== undefined) {
      if (logged !== "outdated" && at.refill === 0) this.#replay.run(known?.["key"] as number);
      return logged;
    }
    if (rule.from === "cohorts" && this.#otherWeights.get(learner, at.step, at.refill, rule.checksum) !== undefined)
      return "outdated";
    const rows = this.#candidates(learner, at, count, rule);
    if (rows.length < count) return "unready";
    const step = (known ?? this.#insertStep.get(learner, at.step, incarnation, rule.checksum))?.["key"] as number;
    const { runStep, iteration, version, tasks } = record;
    this.#insertTake.run(step, at.refill, count, encodeJson(rule), runStep, iteration, version, encodeJson(tasks));
    insertEach(
      this.#insertBatch,
      rows.map(({ key }, position) => [key as number, learner, step, at.refill, position]),
    );
    this.#applyEarlier.run(learner, appliedBefore);
    return { groups: rows.map(toLoggedGroup), refused: [], isReplayed: false, record };
  }

  /** Returns a logged batch and changes no row; `undefined` where the position is not in the log. */
  logged(learner: LearnerId, at: TakePosition, count: number, rule: TakeRule): LoggedBatch | "outdated" | undefined {
    const known = this.#step.get(learner, at.step);
    if (known === undefined) return undefined;
    if (known["checksum"] !== rule.checksum) return "outdated";
    const key = known["key"] as number;
    const logged = this.#take.get(key, at.refill);
    if (logged === undefined) return undefined;
    if (logged["count"] !== count || logged["rule"] !== encodeJson(rule))
      throw conflict(learner, at, `was logged for ${String(logged["count"])} groups by ${String(logged["rule"])}`);
    this.#assertTokens(key, learner, at);
    const rows = this.#logged.all(key, at.refill);
    const refused = rows.filter((row) => row["is_refused"] === 1).map(({ id }) => id as string);
    return { groups: rows.map(toLoggedGroup), refused, isReplayed: true, record: toRecord(logged) };
  }

  refuse(learner: LearnerId, at: TakePosition, groups: readonly string[]): void {
    const step = this.#stepKey(learner, at.step);
    for (const group of groups)
      if (this.#refuse.run(step, at.refill, group).changes === 0) throw conflict(learner, at, `has no group ${group}`);
  }

  credit(learner: LearnerId, step: number, credits: Iterable<Credit>): void {
    const key = this.#stepKey(learner, step);
    const episodes = new Map(this.#episodesOfBatch.all(key).map((row) => [row["id"] as string, row["key"] as number]));
    for (const { trajectory, agent, advantage, logprobs } of credits) {
      const episode = episodes.get(trajectory);
      if (episode === undefined) throw conflict(learner, { step, refill: 0 }, `has no episode ${trajectory}`);
      const values = typeof advantage === "number" ? null : bytesOf(advantage);
      this.#credit.run(
        key,
        episode,
        agent,
        meanOf(advantage),
        values,
        logprobs === undefined ? null : bytesOf(logprobs),
      );
    }
  }

  /** Nothing more is learnt from a batch. */
  apply(learner: LearnerId, step: number): void {
    this.#apply.run(this.#stepKey(learner, step));
  }

  /** Cohorts of which a batch that stays has a group stay too. */
  abandon(learner: LearnerId, fromStep: number): void {
    this.#oldestKeys.delete(learner);
    this.#abandonBatches.run(learner, fromStep);
    this.#abandonSteps.run(learner, fromStep);
    this.#abandonCohorts.run(learner, fromStep);
  }

  /** Reads the group of a key, token for token. */
  read(key: number): TrajectoryGroup {
    const { id, task, players } = this.#group.get(key) as Row;
    const trajectories: Trajectory[] = this.#groupEpisodes.all(key).map((row) => this.#episodes.read(row));
    return {
      id: id as string,
      task: task as TrajectoryGroup["task"],
      players: decodeJson(players as string) as TrajectoryGroup["players"],
      trajectories,
    };
  }

  #candidates(learner: LearnerId, { step, refill }: TakePosition, count: number, rule: TakeRule): Row[] {
    const first = { learner, count, from: this.#oldestKeys.get(learner) ?? 0 };
    if (rule.from === "oldest") return this.#oldest.all(first);
    if (rule.from === "opened") {
      const rows = this.#opened.all(first);
      return rows.every((row) => row["state"] === "committed") ? rows : [];
    }
    if (this.#unfinished.get(learner, step, refill) !== undefined) return [];
    return this.#ofCohorts.all({ learner, step, refill, count });
  }

  /** Throws DATA_INVALID for a batch whose tokens were deleted. */
  #assertTokens(step: number, learner: LearnerId, at: TakePosition): void {
    const runStep = this.#deleted.get(step)?.["run_step"];
    if (typeof runStep !== "number") return;
    throw new MrlmError(
      "DATA_INVALID",
      `Batch ${at.step} of learner ${learner} (step ${runStep} of the run) cannot be taken again: its tokens were deleted.`,
      { hint: "Resume from a later checkpoint. Set store.keep_tokens to keep the tokens of more steps." },
    );
  }

  #stepKey(learner: LearnerId, step: number): number {
    const found = this.#step.get(learner, step);
    if (found === undefined) throw conflict(learner, { step, refill: 0 }, "was never taken");
    return found["key"] as number;
  }
}

function toLoggedGroup({ key, id, cohort }: Row): LoggedGroup {
  return { key: key as number, id: id as string, cohort: cohort as string };
}

function toRecord(row: Row): TakeRecord {
  return {
    runStep: row["run_step"] as number,
    iteration: row["iteration"] as number,
    version: row["version"] as number,
    tasks: decodeJson(row["tasks"] as string) as TakeRecord["tasks"],
  };
}

function conflict(learner: LearnerId, { step, refill }: TakePosition, fact: string): MrlmError {
  return new MrlmError("STORE_CONFLICT", `Batch ${step} (refill ${refill}) of learner ${learner} ${fact}.`, {
    hint: "Two processes write to one store, or the store is of another run.",
  });
}

function meanOf(values: number | Float32Array): number | null {
  if (typeof values === "number") return values;
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
