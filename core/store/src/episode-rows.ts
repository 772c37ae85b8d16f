import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { type AgentTrajectory, type JsonObject, MrlmError, type Segment, type Trajectory } from "@mrlm/spec";
import { decodeJson, encodeJson } from "./json.ts";
import { bytesOf, decodeRuns, encodeRuns, float32Of, int32Of } from "./runs.ts";

type Row = Record<string, SQLOutputValue>;

/** Writes and reads complete episodes, token for token. */
export class EpisodeRows {
  readonly #insertEpisode: StatementSync;
  readonly #insertPart: StatementSync;
  readonly #insertTurn: StatementSync;
  readonly #insertSegment: StatementSync;
  readonly #parts: StatementSync;
  readonly #turns: StatementSync;
  readonly #segments: StatementSync;

  constructor(database: DatabaseSync) {
    this.#insertEpisode = database.prepare(
      `INSERT INTO episodes (group_key, attempt, member, id, environment, task, seed, error_code, error_message, info, seconds_sampling,
       seconds_environment) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#insertPart = database.prepare("INSERT INTO parts VALUES (?, ?, ?, ?, ?)");
    this.#insertTurn = database.prepare("INSERT INTO turns VALUES (?, ?, ?, ?)");
    this.#insertSegment = database.prepare("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#parts = database.prepare("SELECT * FROM parts WHERE episode = ? ORDER BY agent");
    this.#turns = database.prepare("SELECT content FROM turns WHERE episode = ? ORDER BY position");
    this.#segments = database.prepare("SELECT * FROM segments WHERE episode = ? ORDER BY agent, position");
  }

  /** Adds an episode of a group under an attempt. */
  insert(group: number, attempt: number, trajectory: Trajectory): void {
    const { id, environment, task, seed, member, error, info, seconds, turns, agents } = trajectory;
    const { lastInsertRowid: episode } = this.#insertEpisode.run(
      group,
      attempt,
      member,
      id,
      environment,
      task,
      seed,
      error?.code ?? null,
      error?.message ?? null,
      info === undefined ? null : encodeJson(info),
      seconds.sampling,
      seconds.environment,
    );
    turns.forEach((turn, position) => this.#insertTurn.run(episode, position, turn.agent, encodeJson(turn)));
    for (const [agent, { segments, ...part }] of Object.entries(agents)) {
      const reward = part.total.scored ? part.total.value : null;
      this.#insertPart.run(episode, agent, reward, encodeJson(part.total), encodeJson(part.end));
      segments.forEach(({ tokens, logprobs, mask, versions, parent }, position) =>
        this.#insertSegment.run(
          episode,
          agent,
          position,
          parent,
          tokens.length,
          bytesOf(tokens),
          bytesOf(logprobs),
          encodeRuns(mask),
          encodeRuns(versions),
        ),
      );
    }
  }

  /** The episode of a row of `episodes` joined with its group's id as `group_id`. Throws DATA_INVALID where its tokens were deleted. */
  read(row: Row): Trajectory {
    const episode = row["key"] as number;
    const segments = Map.groupBy(this.#segments.all(episode), (segment) => segment["agent"] as string);
    const agents = this.#parts.all(episode).map((part): [string, AgentTrajectory] => [
      part["agent"] as string,
      {
        segments: (segments.get(part["agent"] as string) ?? []).map((segment) =>
          readSegment(segment, row["id"] as string),
        ),
        total: decodeJson(part["total"] as string) as AgentTrajectory["total"],
        end: decodeJson(part["ending"] as string) as AgentTrajectory["end"],
      },
    ]);
    return {
      id: row["id"] as string,
      environment: row["environment"] as string,
      task: row["task"] as Trajectory["task"],
      seed: row["seed"] as number | null,
      group: row["group_id"] as string,
      member: row["member"] as number,
      turns: this.#turns
        .all(episode)
        .map(({ content }) => decodeJson(content as string)) as unknown as Trajectory["turns"],
      agents: Object.fromEntries(agents),
      ...(row["error_code"] === null
        ? {}
        : { error: { code: row["error_code"] as string, message: row["error_message"] as string } }),
      ...(row["info"] === null ? {} : { info: decodeJson(row["info"] as string) as JsonObject }),
      seconds: { sampling: row["seconds_sampling"] as number, environment: row["seconds_environment"] as number },
    };
  }
}

function readSegment(row: Row, episode: string): Segment {
  const { tokens, logprobs, mask, versions } = row;
  const length = row["length"] as number;
  if (!(tokens instanceof Uint8Array) || !(logprobs instanceof Uint8Array))
    throw new MrlmError(
      "DATA_INVALID",
      `The tokens of episode ${episode} were deleted by the retention of the store.`,
      {
        hint: "Set store.keep_tokens to keep tokens of more steps.",
      },
    );
  return {
    tokens: int32Of(tokens),
    logprobs: float32Of(logprobs),
    mask: decodeRuns(mask as Uint8Array, new Uint8Array(length)),
    versions: decodeRuns(versions as Uint8Array, new Int32Array(length)),
    parent: row["parent"] as number | null,
  };
}
