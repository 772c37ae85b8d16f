import { DatabaseSync, type SQLOutputValue, type StatementSync } from "node:sqlite";
import type { AgentTrajectory, JsonObject, Segment, Trajectory, TrajectoryGroup } from "@mrlm/spec";
import { decodeBytes, encodeBytes } from "./message-json.ts";
import { openToRead } from "./open-to-read.ts";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS trajectories (
    id TEXT PRIMARY KEY, step INTEGER NOT NULL, stage TEXT NOT NULL, environment TEXT NOT NULL, task TEXT NOT NULL, seed INTEGER,
    group_id TEXT NOT NULL, member INTEGER NOT NULL, error_code TEXT, error_message TEXT, turns TEXT NOT NULL, agents TEXT NOT NULL, info TEXT,
    seconds_sampling REAL NOT NULL, seconds_environment REAL NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS segments (
    trajectory TEXT NOT NULL, agent TEXT NOT NULL, position INTEGER NOT NULL, parent INTEGER,
    tokens BLOB NOT NULL, logprobs BLOB NOT NULL, mask BLOB NOT NULL, versions BLOB NOT NULL,
    PRIMARY KEY (trajectory, agent, position)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS trajectories_by_step ON trajectories (step);
`;

const REWARD =
  "(SELECT AVG(part.value ->> '$.total.value') FROM json_each(trajectories.agents) AS part WHERE part.value ->> '$.total.scored')";
const UNSCORED =
  "EXISTS (SELECT 1 FROM json_each(trajectories.agents) AS part WHERE NOT part.value ->> '$.total.scored')";

/** Rank of an episode among those of its task with the same reward. Sorting by it puts different tasks first. */
const NTH_OF_TASK = `ROW_NUMBER() OVER (PARTITION BY task, ${REWARD} ORDER BY rowid DESC)`;

/** Conditions and leading columns of each order of a query. */
const ORDERS = {
  newest: { where: "1", by: "" },
  best: { where: `error_code IS NULL AND ${REWARD} IS NOT NULL`, by: `${REWARD} DESC, ${NTH_OF_TASK},` },
  worst: { where: `error_code IS NULL AND ${REWARD} IS NOT NULL`, by: `${REWARD} ASC, ${NTH_OF_TASK},` },
  failed: { where: `(error_code IS NOT NULL OR ${UNSCORED})`, by: "" },
} as const;

/** Stored episode, with step and stage. */
export interface StoredTrajectory {
  readonly step: number;
  readonly stage: string;
  readonly trajectory: Trajectory;
}

/** Query for episodes. */
export interface EpisodeQuery {
  /** Task id (`eval/3`) or split (`eval`); all tasks by default. */
  readonly task?: string | undefined;
  /** `best` and `worst`: by mean reward of the agents, and different tasks first if it is equal; `failed`: the newest failed or unscored episodes. */
  readonly order: "newest" | "best" | "worst" | "failed";
  readonly limit: number;
}

/** Error code of failed or unscored episodes, with their number. */
export interface CauseCount {
  readonly code: string;
  /** Most frequent message of this code. */
  readonly message: string;
  readonly episodes: number;
}

/**
 * Store of all episodes of a run in one SQLite file: searchable fields as columns, conversations as JSON, and tokens, log-probabilities, masks and
 * versions as little-endian blobs, exactly as they were sampled.
 */
export class TrajectoryStore {
  readonly #database: DatabaseSync;
  readonly #insertTrajectory: StatementSync;
  readonly #insertSegment: StatementSync;

  constructor(path: string, options: { readonly readOnly?: boolean } = {}) {
    this.#database = options.readOnly === true ? openToRead(path, SCHEMA) : openToWrite(path);
    this.#insertTrajectory = this.#database.prepare(
      "INSERT OR REPLACE INTO trajectories VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    );
    this.#insertSegment = this.#database.prepare("INSERT OR REPLACE INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  }

  /** Adds the episodes of one iteration in one transaction. */
  add(step: number, stage: string, groups: readonly TrajectoryGroup[]): void {
    this.#database.exec("BEGIN");
    try {
      for (const { trajectories } of groups)
        for (const trajectory of trajectories) this.#insert(step, stage, trajectory);
      this.#database.exec("COMMIT");
    } catch (error) {
      // SQLite rolls back by itself when the disk is full.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  /** Waits until all episodes are on the disk. Called before each checkpoint, so that no checkpoint is newer than its episodes even after a power failure. */
  flush(): void {
    this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
  }

  /** Removes the episodes after a step. */
  truncateAfter(step: number): void {
    this.#database.exec("BEGIN");
    this.#database
      .prepare("DELETE FROM segments WHERE trajectory IN (SELECT id FROM trajectories WHERE step > ?)")
      .run(step);
    this.#database.prepare("DELETE FROM trajectories WHERE step > ?").run(step);
    this.#database.exec("COMMIT");
  }

  /** Yields episodes in the order in which they were played. */
  *read(range: { readonly from?: number; readonly to?: number } = {}): Generator<StoredTrajectory> {
    const segments = this.#database.prepare("SELECT * FROM segments WHERE trajectory = ? ORDER BY agent, position");
    const rows = this.#database
      .prepare("SELECT * FROM trajectories WHERE step BETWEEN ? AND ? ORDER BY rowid")
      .iterate(range.from ?? 0, range.to ?? Number.MAX_SAFE_INTEGER);
    for (const row of rows) yield toStored(row, segments.all(row["id"] as string));
  }

  /** Returns the episodes of a query, in its order. */
  find({ task, order, limit }: EpisodeQuery): StoredTrajectory[] {
    const isTask =
      task === undefined
        ? "1"
        : "(task = :task OR task LIKE replace(replace(:task, '%', '\\%'), '_', '\\_') || '/%' ESCAPE '\\')";
    const { where, by } = ORDERS[order];
    const rows = this.#database
      .prepare(`SELECT * FROM trajectories WHERE ${isTask} AND ${where} ORDER BY ${by} rowid DESC LIMIT :limit`)
      .all({ limit, ...(task === undefined ? {} : { task }) });
    const segments = this.#database.prepare("SELECT * FROM segments WHERE trajectory = ? ORDER BY agent, position");
    return rows.map((row) => toStored(row, segments.all(row["id"] as string)));
  }

  /** Returns the tasks that have episodes. */
  tasks(): string[] {
    return this.#database
      .prepare("SELECT DISTINCT task FROM trajectories")
      .all()
      .map((row) => String(row["task"]));
  }

  /** Returns the lowest and the highest step that have episodes. */
  steps(): { readonly first: number | undefined; readonly last: number | undefined } {
    const row = this.#database.prepare("SELECT MIN(step) AS first, MAX(step) AS last FROM trajectories").get();
    return {
      first: (row?.["first"] ?? undefined) as number | undefined,
      last: (row?.["last"] ?? undefined) as number | undefined,
    };
  }

  /** Returns the errors of failed episodes, the most frequent code first. */
  failures(): CauseCount[] {
    return this.#causes(
      "SELECT error_code AS code, error_message AS message, COUNT(*) AS episodes FROM trajectories WHERE error_code IS NOT NULL GROUP BY 1, 2 ORDER BY 3 DESC",
    );
  }

  /** Returns the reasons why parts of agents have no score in episodes that did not fail, the most frequent code first. */
  unscored(): CauseCount[] {
    return this.#causes(
      `SELECT part.value ->> '$.total.code' AS code, part.value ->> '$.total.message' AS message, COUNT(*) AS episodes
       FROM trajectories, json_each(trajectories.agents) AS part WHERE error_code IS NULL AND NOT part.value ->> '$.total.scored' GROUP BY 1, 2 ORDER BY 3 DESC`,
    );
  }

  close(): void {
    this.#database.close();
  }

  /** Counts codes and not messages, because a message may name an episode or a time. Each code has its most frequent message. */
  #causes(sql: string): CauseCount[] {
    const byCode = Map.groupBy(this.#database.prepare(sql).all(), (row) => String(row["code"]));
    const counts = Array.from(byCode, ([code, rows]) => ({
      code,
      message: String(rows[0]?.["message"]),
      episodes: rows.reduce((sum, { episodes }) => sum + Number(episodes), 0),
    }));
    return counts.toSorted((one, other) => other.episodes - one.episodes);
  }

  #insert(step: number, stage: string, trajectory: Trajectory): void {
    const { id, environment, task, seed, group, member, error, turns, agents, info, seconds } = trajectory;
    const withoutTokens = Object.fromEntries(
      Object.entries(agents).map(([agent, { segments: _, ...part }]) => [agent, part]),
    );
    this.#insertTrajectory.run(
      id,
      step,
      stage,
      environment,
      task,
      seed,
      group,
      member,
      error?.code ?? null,
      error?.message ?? null,
      encodeBytes(turns),
      JSON.stringify(withoutTokens),
      info === undefined ? null : JSON.stringify(info),
      seconds.sampling,
      seconds.environment,
    );
    for (const [agent, { segments }] of Object.entries(agents)) {
      segments.forEach(({ tokens, logprobs, mask, versions, parent }, position) =>
        this.#insertSegment.run(
          id,
          agent,
          position,
          parent,
          bytesOf(tokens),
          bytesOf(logprobs),
          mask,
          bytesOf(versions),
        ),
      );
    }
  }
}

function openToWrite(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  // Commits reach the disk with the next `flush`, which precedes each checkpoint.
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  database.exec(SCHEMA);
  return database;
}

type Row = Record<string, SQLOutputValue>;

function toStored(row: Row, segmentRows: readonly Row[]): StoredTrajectory {
  const heads = JSON.parse(row["agents"] as string) as Record<string, Omit<AgentTrajectory, "segments">>;
  const segmentsOf = (agent: string): Segment[] =>
    segmentRows.filter((segment) => segment["agent"] === agent).map(toSegment);
  const trajectory: Trajectory = {
    id: row["id"] as string,
    environment: row["environment"] as string,
    task: row["task"] as string,
    seed: row["seed"] as number | null,
    group: row["group_id"] as string,
    member: row["member"] as number,
    turns: decodeBytes(row["turns"] as string) as Trajectory["turns"],
    agents: Object.fromEntries(
      Object.entries(heads).map(([agent, head]) => [agent, { ...head, segments: segmentsOf(agent) }]),
    ),
    ...(row["error_code"] === null
      ? {}
      : { error: { code: row["error_code"] as string, message: row["error_message"] as string } }),
    ...(row["info"] === null ? {} : { info: JSON.parse(row["info"] as string) as JsonObject }),
    seconds: { sampling: row["seconds_sampling"] as number, environment: row["seconds_environment"] as number },
  };
  return { step: row["step"] as number, stage: row["stage"] as string, trajectory };
}

function toSegment(row: Row): Segment {
  const buffer = (name: string): ArrayBuffer => Uint8Array.from(row[name] as Uint8Array).buffer;
  return {
    tokens: new Int32Array(buffer("tokens")),
    logprobs: new Float32Array(buffer("logprobs")),
    mask: new Uint8Array(buffer("mask")),
    versions: new Int32Array(buffer("versions")),
    parent: row["parent"] as number | null,
  };
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array | Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
