import type { SQLInputValue, SQLOutputValue } from "node:sqlite";
import { iterated } from "./database.ts";
import { defined, type Trajectory, type TrajectoryGroup } from "@mrlm/spec";
import type { EpisodePurpose } from "@mrlm/spec/host";
import { type EpisodeList, type EpisodePage, listChoices, listEpisodes } from "./episode-list.ts";
import { EpisodeRows } from "./episode-rows.ts";
import { decodeJson } from "./json.ts";
import { float32Of } from "./runs.ts";
import { ReadStore } from "./open-to-read.ts";
import type { StorePlace } from "./store-place.ts";
import { readWorkers, type RunWorkers } from "./run-workers.ts";
import { jsonText } from "./sql.ts";
import { TASKS } from "./views.ts";

export interface StoredEpisode {
  readonly purpose: EpisodePurpose;
  /** Step of the run that learnt from it first, or whose weights played. */
  readonly step: number;
  /** Name of the stage; `evaluation/greedy` or `evaluation/sampled` of an evaluation. */
  readonly stage: string;
  /** Segments whose tokens were deleted are left out. */
  readonly trajectory: Trajectory;
}

/** Stored episode with its place in the store. A resumed run has other numbers than an undisturbed one. */
export interface NumberedEpisode extends StoredEpisode {
  /** Number of the episode, which no other one of the store has. Evaluations repeat the ids of episodes and groups. */
  readonly key: number;
  /** Number of its group. */
  readonly groupKey: number;
}

/** Episode that was recorded under an id of its own. */
export interface RecordedEpisode {
  readonly id: string;
  /** Number of the episode. */
  readonly key: number;
  /** Player of each role. */
  readonly players: TrajectoryGroup["players"];
  /** Whether it ended without an error, and each agent has a reward. */
  readonly isScored: boolean;
}

/** Signal that a learner has made of one agent's part of an episode. */
export interface StoredCredit {
  /** `STAGE/POLICY` */
  readonly learner: string;
  readonly agent: string;
  /** One number, or one for each sampled token, in order. */
  readonly advantage: number | Float32Array;
  /** Log-probabilities in nats of the sampled tokens under the trainer's weights, where they were computed. */
  readonly logprobs?: Float32Array;
}

export interface EpisodeQuery {
  /** Task id (`eval/3`) or split (`eval`); all tasks by default. */
  readonly task?: string | undefined;
  /** `best` and `worst`: by mean reward of the agents, and different tasks first if it is equal; `failed`: the newest failed or unscored episodes. */
  readonly order: "newest" | "best" | "worst" | "failed";
  readonly limit: number;
}

/** Rewards of one task over time. */
export interface TaskRewards {
  readonly environment: string;
  readonly task: string;
  readonly difficulty: number | null;
  readonly groups: number;
  /** Step and mean reward of each group, in order of play; `null` where nothing has a score. */
  readonly rewards: readonly (readonly [step: number, reward: number | null])[];
}

/** Part of a store. */
export interface EpisodeRange {
  readonly purpose?: EpisodePurpose;
  readonly from?: number;
  readonly to?: number;
}

/** Error code of failed or unscored episodes, with their number. */
export interface CauseCount {
  readonly code: string;
  /** Most frequent message of this code. */
  readonly message: string;
  readonly episodes: number;
}

const EPISODES = `episodes JOIN cohorts ON cohorts.key = episodes.cohort AND cohorts.state = 'committed'
  JOIN groups ON groups.key = episodes.group_key`;
const COLUMNS =
  "episodes.*, groups.id AS group_id, cohorts.purpose AS purpose, cohorts.run_step AS run_step, cohorts.stage AS stage";
const REWARD = "(SELECT AVG(reward) FROM parts WHERE parts.episode = episodes.key)";
const UNSCORED = "EXISTS (SELECT 1 FROM parts WHERE parts.episode = episodes.key AND parts.reward IS NULL)";
/** Evaluations that the run itself made, not a later `mrlm eval`. */
const OWN_EVALUATION =
  "cohorts.purpose = 'eval' AND cohorts.incarnation IN (SELECT id FROM incarnations WHERE incarnations.purpose = 'train')";

/** Rank of an episode among those of its task with the same reward. Sorting by it puts different tasks first. */
const NTH_OF_TASK = `ROW_NUMBER() OVER (PARTITION BY episodes.environment, episodes.task, ${REWARD} ORDER BY episodes.key DESC)`;

/** Conditions and leading columns of each order of a query. */
const ORDERS = {
  newest: { where: "TRUE", by: "" },
  best: { where: `error IS NULL AND ${REWARD} IS NOT NULL`, by: `${REWARD} DESC, ${NTH_OF_TASK},` },
  worst: { where: `error IS NULL AND ${REWARD} IS NOT NULL`, by: `${REWARD} ASC, ${NTH_OF_TASK},` },
  failed: { where: `(error IS NOT NULL OR ${UNSCORED})`, by: "" },
} as const;

type Row = Record<string, SQLOutputValue>;

/** Reads the episodes of a store, also while a run writes it. Episodes that were played anew are left out. */
export class EpisodeReader {
  readonly #store: ReadStore;
  readonly #episodes: EpisodeRows;

  /** Throws STORE_INVALID for a file that is no store, STORE_FAILED for one that cannot be read. */
  constructor(place: StorePlace) {
    this.#store = new ReadStore(place);
    this.#episodes = new EpisodeRows(this.#store.database);
  }

  /** Returns the episodes of a query, in its order. */
  find({ task, order, limit }: EpisodeQuery): NumberedEpisode[] {
    const isTask =
      task === undefined
        ? "TRUE"
        : "(episodes.task = :task OR episodes.task LIKE replace(replace(:task, '%', '\\%'), '_', '\\_') || '/%' ESCAPE '\\')";
    const { where, by } = ORDERS[order];
    const sql = `SELECT ${COLUMNS} FROM ${EPISODES} WHERE ${isTask} AND ${where} ORDER BY ${by} episodes.key DESC LIMIT :limit`;
    return this.#all(sql, { limit, ...defined({ task }) }).map((row) => this.#numbered(row));
  }

  /** Lists agents' parts of episodes. Throws QUERY_INVALID for an unknown column. */
  list(page: EpisodePage): EpisodeList {
    return this.#store.read(() => listEpisodes(this.#store.database, page));
  }

  /** Returns the values from which a filter is chosen, by column of the list. */
  choices(): Record<string, readonly string[]> {
    return this.#store.read(() => listChoices(this.#store.database));
  }

  /** Returns the episode of a number, if the store has it. */
  episode(key: number): NumberedEpisode | undefined {
    const [row] = this.#all(`SELECT ${COLUMNS} FROM ${EPISODES} WHERE episodes.key = :key`, { key });
    return row === undefined ? undefined : this.#numbered(row);
  }

  /** Returns the episodes that were recorded under ids with a prefix, in the order of their numbers. */
  recorded(prefix: string): RecordedEpisode[] {
    const sql = `SELECT cohorts.id AS id, episodes.key AS key, groups.players AS players, CASE WHEN error IS NOT NULL OR ${UNSCORED} THEN 0 ELSE 1 END AS scored
      FROM ${EPISODES} WHERE substr(cohorts.id, 1, length(CAST(:prefix AS TEXT))) = CAST(:prefix AS TEXT) ORDER BY episodes.key`;
    return this.#all(sql, { prefix }).map(({ id, key, players, scored }) => ({
      id: String(id),
      key: Number(key),
      players: players === null ? {} : (decodeJson(players as string) as TrajectoryGroup["players"]),
      isScored: Number(scored) === 1,
    }));
  }

  /** Returns what the learners have made of an episode, in the order in which they learnt. */
  credits(key: number): StoredCredit[] {
    const rows = this.#all(
      `SELECT steps.learner AS learner, credits.agent AS agent, credits.advantage AS advantage, credits.advantages AS advantages, credits.logprobs AS logprobs
       FROM ${EPISODES} JOIN steps ON steps.state <> 'abandoned' AND steps.step = cohorts.step
       JOIN credits ON credits.step = steps.key AND credits.episode = episodes.key WHERE episodes.key = :key ORDER BY steps.key`,
      { key },
    );
    return rows.map(({ learner, agent, advantage, advantages, logprobs }) => ({
      learner: String(learner),
      agent: String(agent),
      advantage: advantages instanceof Uint8Array ? float32Of(advantages) : Number(advantage),
      ...(logprobs instanceof Uint8Array && { logprobs: float32Of(logprobs) }),
    }));
  }

  /** Yields episodes of a purpose (default `train`) in a range of steps, in order of play. Throws DATA_INVALID where tokens were deleted. */
  *read({ purpose = "train", from = 0, to = Number.MAX_SAFE_INTEGER }: EpisodeRange = {}): Generator<StoredEpisode> {
    const sql = `SELECT ${COLUMNS} FROM ${EPISODES} WHERE cohorts.purpose = ? AND cohorts.run_step BETWEEN ? AND ? ORDER BY episodes.key`;
    for (const row of iterated(this.#store.database.prepare(sql), [purpose, from, to]))
      yield this.#stored(row, "refuse");
  }

  /** Returns the tasks that have episodes. */
  tasks(): string[] {
    return this.#all(`SELECT DISTINCT episodes.task AS task FROM ${EPISODES}`).map((row) => String(row["task"]));
  }

  /** Returns the tasks of training with the mean rewards of their groups, those with most groups first. */
  taskRewards(limit: number): TaskRewards[] {
    return this.#all(TASKS, { limit }).map(({ environment, task, difficulty, groups, rewards }) => ({
      environment: String(environment),
      task: String(task),
      difficulty: difficulty as number | null,
      groups: Number(groups),
      rewards: (typeof rewards === "string" ? JSON.parse(rewards) : rewards) as TaskRewards["rewards"],
    }));
  }

  /** Returns the lowest and the highest step of the run's own evaluations. */
  evaluationSteps(): { readonly first: number | undefined; readonly last: number | undefined } {
    const [row] = this.#all(
      `SELECT MIN(run_step) AS first, MAX(run_step) AS last FROM cohorts WHERE state = 'committed' AND ${OWN_EVALUATION}`,
    );
    return {
      first: (row?.["first"] ?? undefined) as number | undefined,
      last: (row?.["last"] ?? undefined) as number | undefined,
    };
  }

  /** Returns the episodes of the run's own evaluation after a step, in order of play. */
  evaluation(step: number, stage: string): Trajectory[] {
    const sql = `SELECT ${COLUMNS} FROM ${EPISODES} WHERE ${OWN_EVALUATION} AND cohorts.run_step = :step AND cohorts.stage = :stage`;
    return this.#all(`${sql} ORDER BY episodes.key`, { step, stage }).map((row) => this.#stored(row).trajectory);
  }

  /** Returns the errors of training episodes that failed, the most frequent code first. */
  failures(): CauseCount[] {
    return this.#causes(
      `SELECT ${jsonText("error", "'code'")} AS code, ${jsonText("error", "'message'")} AS message, COUNT(*) AS episodes FROM ${EPISODES}
       WHERE cohorts.purpose = 'train' AND error IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC`,
    );
  }

  /** Returns the reasons why parts of agents have no score in training episodes that did not fail, the most frequent code first. */
  unscored(): CauseCount[] {
    return this.#causes(
      `SELECT ${jsonText("total", "'code'")} AS code, ${jsonText("total", "'message'")} AS message, COUNT(*) AS episodes FROM ${EPISODES}
       JOIN parts ON parts.episode = episodes.key AND parts.reward IS NULL
       WHERE cohorts.purpose = 'train' AND error IS NULL GROUP BY 1, 2 ORDER BY 3 DESC`,
    );
  }

  /** Returns the members of the run, their leases, and the groups and tokens that wait. */
  workers(): RunWorkers {
    return this.#store.read(() => readWorkers(this.#store.database));
  }

  close(): void {
    this.#store.close();
  }

  /** Counts codes and not messages, because a message may name an episode or a time. Each code has its most frequent message. */
  #causes(sql: string): CauseCount[] {
    const byCode = Map.groupBy(this.#all(sql), (row) => String(row["code"]));
    const counts = Array.from(byCode, ([code, rows]) => ({
      code,
      message: String(rows[0]?.["message"]),
      episodes: rows.reduce((sum, { episodes }) => sum + Number(episodes), 0),
    }));
    return counts.toSorted((one, other) => other.episodes - one.episodes);
  }

  #numbered(row: Row): NumberedEpisode {
    return { key: row["key"] as number, groupKey: row["group_key"] as number, ...this.#stored(row) };
  }

  #stored(row: Row, deleted: "refuse" | "leave out" = "leave out"): StoredEpisode {
    return {
      purpose: row["purpose"] as EpisodePurpose,
      step: row["run_step"] as number,
      stage: row["stage"] as string,
      trajectory: this.#store.read(() => this.#episodes.read(row, { deleted })),
    };
  }

  #all(sql: string, parameters: Record<string, SQLInputValue> = {}): Row[] {
    return this.#store.read(() => this.#store.database.prepare(sql).all(parameters));
  }
}
