import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import {
  type Credit,
  type LearnerId,
  MrlmError,
  type TakenBatch,
  type TakePosition,
  type TakeRule,
  type Trajectory,
  type TrajectoryGroup,
} from "@mrlm/spec";
import type { EpisodeRows } from "./episode-rows.ts";
import { encodeJson } from "./json.ts";
import { bytesOf } from "./runs.ts";

type Row = Record<string, SQLOutputValue>;

/** Log of batches: a group is in at most one batch of a learner. Callers wrap each method in a transaction. */
export class BatchTable {
  readonly #episodes: EpisodeRows;
  readonly #step: StatementSync;
  readonly #insertStep: StatementSync;
  readonly #take: StatementSync;
  readonly #insertTake: StatementSync;
  readonly #ofCohorts: StatementSync;
  readonly #oldest: StatementSync;
  readonly #uncommitted: StatementSync;
  readonly #insertBatch: StatementSync;
  readonly #logged: StatementSync;
  readonly #groupEpisodes: StatementSync;
  readonly #refuse: StatementSync;
  readonly #episodeOfBatch: StatementSync;
  readonly #credit: StatementSync;
  readonly #settle: StatementSync;
  readonly #abandonSteps: StatementSync;
  readonly #abandonBatches: StatementSync;
  readonly #abandonCohorts: StatementSync;

  constructor(database: DatabaseSync, episodes: EpisodeRows) {
    this.#episodes = episodes;
    this.#step = database.prepare("SELECT * FROM steps WHERE learner = ? AND step = ? AND is_abandoned = 0");
    this.#insertStep = database.prepare("INSERT INTO steps (learner, step, checksum) VALUES (?, ?, ?)");
    this.#take = database.prepare("SELECT count, rule FROM takes WHERE step = ? AND refill = ?");
    this.#insertTake = database.prepare("INSERT INTO takes VALUES (?, ?, ?, ?)");
    const visible = `SELECT groups.key AS key, groups.id AS id, groups.task AS task FROM groups JOIN cohorts ON cohorts.key = groups.cohort
      WHERE cohorts.state = 'committed' AND cohorts.purpose = 'train' AND cohorts.learner = :learner
      AND NOT EXISTS (SELECT 1 FROM batches WHERE batches.learner = :learner AND batches.group_key = groups.key AND batches.is_abandoned = 0)`;
    this.#ofCohorts = database.prepare(
      `${visible} AND cohorts.step = :step AND cohorts.refill = :refill ORDER BY cohorts.place, cohorts.part, groups.position LIMIT :count`,
    );
    this.#oldest = database.prepare(`${visible} ORDER BY cohorts.key, groups.position LIMIT :count`);
    this.#uncommitted = database.prepare(
      "SELECT 1 FROM cohorts WHERE learner = ? AND step = ? AND refill = ? AND state IN ('open', 'leased')",
    );
    this.#insertBatch = database.prepare(
      "INSERT INTO batches (group_key, learner, step, refill, position) VALUES (?, ?, ?, ?, ?)",
    );
    this.#logged = database.prepare(
      `SELECT groups.key AS key, groups.id AS id, groups.task AS task, batches.is_refused AS is_refused FROM batches
       JOIN groups ON groups.key = batches.group_key WHERE batches.step = ? AND batches.refill = ? ORDER BY batches.position`,
    );
    this.#groupEpisodes = database.prepare(
      `SELECT episodes.*, groups.id AS group_id FROM episodes JOIN groups ON groups.key = episodes.group_key
       WHERE group_key = ? ORDER BY member`,
    );
    this.#refuse = database.prepare(
      `UPDATE batches SET is_refused = 1 WHERE learner = ? AND step = ? AND refill = ?
       AND group_key = (SELECT group_key FROM batches AS b JOIN groups ON groups.key = b.group_key WHERE b.step = ? AND b.refill = ? AND groups.id = ?)`,
    );
    this.#episodeOfBatch = database.prepare(
      `SELECT episodes.key AS key FROM episodes JOIN batches ON batches.group_key = episodes.group_key
       WHERE batches.step = ? AND episodes.id = ?`,
    );
    this.#credit = database.prepare("INSERT OR REPLACE INTO credits VALUES (?, ?, ?, ?, ?, ?)");
    this.#settle = database.prepare("UPDATE steps SET is_settled = 1 WHERE key = ?");
    this.#abandonSteps = database.prepare(
      "UPDATE steps SET is_abandoned = 1 WHERE learner = ? AND step >= ? AND is_abandoned = 0",
    );
    this.#abandonBatches = database.prepare(
      "UPDATE batches SET is_abandoned = 1 WHERE step IN (SELECT key FROM steps WHERE learner = ? AND step >= ? AND is_abandoned = 1)",
    );
    this.#abandonCohorts = database.prepare(
      "UPDATE cohorts SET state = 'abandoned' WHERE purpose = 'train' AND learner = ? AND step >= ? AND state <> 'abandoned'",
    );
  }

  take(learner: LearnerId, at: TakePosition, count: number, rule: TakeRule): TakenBatch | undefined {
    const known = this.#step.get(learner, at.step);
    if (known !== undefined && known["checksum"] !== rule.checksum)
      throw conflict(learner, at, "was logged for weights of another checksum");
    const logged = known === undefined ? undefined : this.#take.get(known["key"] as number, at.refill);
    if (known !== undefined && logged !== undefined) {
      if (logged["count"] !== count || logged["rule"] !== encodeJson(rule))
        throw conflict(learner, at, `was logged for ${String(logged["count"])} groups by ${String(logged["rule"])}`);
      const rows = this.#logged.all(known["key"] as number, at.refill);
      const refused = rows.filter((row) => row["is_refused"] === 1).map(({ id }) => id as string);
      return { groups: rows.map((row) => this.#group(row)), refused, isReplayed: true };
    }
    const rows = this.#candidates(learner, at, count, rule);
    if (rows.length < count) return undefined;
    const step = known?.["key"] ?? this.#insertStep.run(learner, at.step, rule.checksum).lastInsertRowid;
    this.#insertTake.run(step, at.refill, count, encodeJson(rule));
    rows.forEach(({ key }, position) => this.#insertBatch.run(key as number, learner, step, at.refill, position));
    return { groups: rows.map((row) => this.#group(row)), refused: [], isReplayed: false };
  }

  refuse(learner: LearnerId, at: TakePosition, groups: readonly string[]): void {
    const step = this.#stepKey(learner, at.step);
    for (const group of groups)
      if (this.#refuse.run(learner, step, at.refill, step, at.refill, group).changes === 0)
        throw conflict(learner, at, `has no group ${group}`);
  }

  settle(learner: LearnerId, step: number, credits: readonly Credit[]): void {
    const key = this.#stepKey(learner, step);
    for (const { trajectory, agent, advantage, logprobs } of credits) {
      const episode = this.#episodeOfBatch.get(key, trajectory)?.["key"];
      if (episode === undefined) throw conflict(learner, { step, refill: 0 }, `has no episode ${trajectory}`);
      const [value, values] = typeof advantage === "number" ? [advantage, null] : [null, bytesOf(advantage)];
      this.#credit.run(key, episode, agent, value, values, logprobs === undefined ? null : bytesOf(logprobs));
    }
    this.#settle.run(key);
  }

  abandon(learner: LearnerId, fromStep: number): void {
    this.#abandonSteps.run(learner, fromStep);
    this.#abandonBatches.run(learner, fromStep);
    this.#abandonCohorts.run(learner, fromStep);
  }

  #candidates(learner: LearnerId, { step, refill }: TakePosition, count: number, rule: TakeRule): Row[] {
    if (rule.from === "oldest") return this.#oldest.all({ learner, count });
    if (this.#uncommitted.get(learner, step, refill) !== undefined) return [];
    return this.#ofCohorts.all({ learner, step, refill, count });
  }

  #stepKey(learner: LearnerId, step: number): number {
    const found = this.#step.get(learner, step);
    if (found === undefined) throw conflict(learner, { step, refill: 0 }, "was never taken");
    return found["key"] as number;
  }

  #group({ key, id, task }: Row): TrajectoryGroup {
    const trajectories: Trajectory[] = this.#groupEpisodes.all(key as number).map((row) => this.#episodes.read(row));
    return { id: id as string, task: task as TrajectoryGroup["task"], trajectories };
  }
}

function conflict(learner: LearnerId, { step, refill }: TakePosition, fact: string): MrlmError {
  return new MrlmError("STORE_CONFLICT", `Batch ${step} (refill ${refill}) of learner ${learner} ${fact}.`, {
    hint: "Two processes write to one store, or the store is of another run.",
  });
}
