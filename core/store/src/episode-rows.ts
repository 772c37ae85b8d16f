import {
  type AgentId,
  type AgentTrajectory,
  type JsonObject,
  MrlmError,
  type Segment,
  type Trajectory,
} from "@mrlm/spec";
import type { PlayedBy } from "@mrlm/spec/host";
import { type Database, insertEach, type Row, type Statement } from "./database.ts";
import type { EncodedEpisode } from "./encoded-groups.ts";
import { decodeJson } from "./json.ts";
import { decodeRuns, float32Of, int32Of } from "./runs.ts";

/** Rows to which an episode belongs. */
export interface EpisodeOwner {
  readonly cohort: number;
  readonly group: number;
  readonly attempt: number;
}

/** Writes and reads complete episodes, token for token. */
export class EpisodeRows {
  readonly #insertEpisode: Statement;
  readonly #insertPart: Statement;
  readonly #insertTurn: Statement;
  readonly #insertSegment: Statement;
  readonly #parts: Statement;
  readonly #turns: Statement;
  readonly #segments: Statement;

  constructor(database: Database) {
    this.#insertEpisode = database.prepare(
      `INSERT INTO episodes (cohort, group_key, attempt, member, id, environment, task, seed, error, info, seconds_sampling, seconds_environment, seconds_players)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING key`,
    );
    this.#insertPart = database.prepare(
      "INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    );
    this.#insertTurn = database.prepare("INSERT INTO turns VALUES (?, ?, ?, ?)");
    this.#insertSegment = database.prepare("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
    this.#parts = database.prepare("SELECT * FROM parts WHERE episode = ? ORDER BY position");
    this.#turns = database.prepare("SELECT content FROM turns WHERE episode = ? ORDER BY position");
    this.#segments = database.prepare("SELECT * FROM segments WHERE episode = ? ORDER BY part, position");
  }

  /**
   * Adds an episode. One that the attempt has added before is left as it is.
   * @param bytes of the groups that it was encoded with
   */
  insert(
    { cohort, group, attempt }: EpisodeOwner,
    { head, turns, parts, segments }: EncodedEpisode,
    bytes: Uint8Array,
  ): void {
    const episode = this.#insertEpisode.get(cohort, group, attempt, ...head)?.["key"] as number | undefined;
    if (episode === undefined) return;
    insertEach(
      this.#insertTurn,
      turns.map((turn, position) => [episode, position, ...turn]),
    );
    insertEach(
      this.#insertPart,
      parts.map((part, position) => [episode, position, ...part]),
    );
    insertEach(
      this.#insertSegment,
      segments.map(({ part, position, parent, length, start, ends: [tokens, logprobs, mask, versions] }) => [
        episode,
        part,
        position,
        parent,
        length,
        bytes.subarray(start, tokens),
        bytes.subarray(tokens, logprobs),
        bytes.subarray(logprobs, mask),
        bytes.subarray(mask, versions),
      ]),
    );
  }

  /**
   * The episode of a row of `episodes` joined with its group's id as `group_id`. Throws DATA_INVALID where its tokens were deleted, or leaves
   * those segments out.
   */
  read(row: Row, options: { readonly deleted: "refuse" | "leave out" } = { deleted: "refuse" }): Trajectory {
    const episode = row["key"] as number;
    const stored = this.#segments.all(episode);
    const isKept = (segment: Row): boolean => options.deleted === "refuse" || segment["tokens"] !== null;
    const segments = Map.groupBy(stored.filter(isKept), (segment) => segment["part"] as number);
    const agents = this.#parts.all(episode).map((part): [AgentId, AgentTrajectory] => [
      part["agent"] as AgentId,
      {
        role: part["role"] as string,
        player: readPlayer(part),
        segments: (segments.get(part["position"] as number) ?? []).map((segment) =>
          readSegment(segment, row["id"] as string),
        ),
        total: decodeJson(part["total"] as string) as AgentTrajectory["total"],
        ...(part["shared"] === null
          ? {}
          : { shared: decodeJson(part["shared"] as string) as NonNullable<AgentTrajectory["shared"]> }),
        end: readEnd(part),
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
      ...(row["error"] === null
        ? {}
        : { error: decodeJson(row["error"] as string) as NonNullable<Trajectory["error"]> }),
      ...(row["info"] === null ? {} : { info: decodeJson(row["info"] as string) as JsonObject }),
      seconds: {
        sampling: row["seconds_sampling"] as number,
        environment: row["seconds_environment"] as number,
        ...(row["seconds_players"] === null ? {} : { players: row["seconds_players"] as number }),
      },
    };
  }
}

function readPlayer(row: Row): PlayedBy {
  return {
    kind: row["player_kind"] as PlayedBy["kind"],
    name: row["player"] as string,
    ...(row["policy"] === null ? {} : { policy: row["policy"] as string }),
    ...(row["version"] === null ? {} : { version: row["version"] as number }),
  };
}

function readEnd(row: Row): AgentTrajectory["end"] {
  const end = { terminated: row["terminated"] === 1, truncated: row["truncated"] === 1 };
  return row["truncated_by"] === null
    ? end
    : { ...end, truncatedBy: row["truncated_by"] as NonNullable<AgentTrajectory["end"]["truncatedBy"]> };
}

function readSegment(row: Row, episode: string): Segment {
  const { tokens, logprobs, mask, versions } = row;
  const length = row["length"] as number;
  if (!(tokens instanceof Uint8Array) || !(logprobs instanceof Uint8Array))
    throw new MrlmError(
      "DATA_INVALID",
      `The tokens of episode ${episode} were deleted by the retention of the store.`,
      { hint: "Set store.keep_tokens to keep tokens of more steps." },
    );
  return {
    tokens: int32Of(tokens),
    logprobs: float32Of(logprobs),
    mask: decodeRuns(mask as Uint8Array, new Uint8Array(length)),
    versions: decodeRuns(versions as Uint8Array, new Int32Array(length)),
    parent: row["parent"] as number | null,
  };
}
