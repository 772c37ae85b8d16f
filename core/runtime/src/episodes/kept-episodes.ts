import { existsSync, readdirSync, statSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { type RecordedRow, isRecordedRow, parseRecordedRow, toRecordedRows } from "@mrlm/kit/learning";
import { MrlmError } from "@mrlm/spec";
import { EpisodeReader, type EpisodeQuery, isStore, type NumberedEpisode } from "@mrlm/store";
import { readRows } from "../collection/rows.ts";
import { didYouMean } from "../names/nearest.ts";
import { storePlaceOf } from "../plugins/store-plugin.ts";
import { RunDirectory } from "../run/run-directory.ts";
import { runNotFound } from "../run/run-not-found.ts";

/** One agent's part of an episode that a run or a collection has kept. */
export interface KeptEpisode {
  /** Number in its store, `episode_key` of queries; `undefined` for an episode of a recorded file. */
  readonly key?: number;
  /** Step at which it was played; `undefined` for an episode of a recorded file. */
  readonly step?: number;
  /** The stage's name; `evaluation/greedy` or `evaluation/sampled` for an evaluation's. */
  readonly stage?: string;
  readonly row: RecordedRow;
}

/**
 * Finds episodes of a run (its training and its evaluations), of an episode store, of a recorded file, or of a directory with recorded files. Rejects with
 * RUN_NOT_FOUND for a path that is none of them, STORE_INVALID for another database, EPISODE_NOT_FOUND where there are no episodes, TASK_NOT_FOUND for a task without episodes.
 */
export async function keptEpisodes(path: string, query: EpisodeQuery): Promise<KeptEpisode[]> {
  if (isStore(path))
    return ofStore(new EpisodeReader(storePlaceOf(path)), path, query, "No episode was added to it yet.");
  const given = resolve(path);
  const files = recordedFiles(given);
  return files === undefined ? ofRun(given, query) : ofFiles(files, query);
}

/** Returns the recorded files that a path stands for; `undefined` for a run. */
function recordedFiles(path: string): string[] | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() === true && COLLECTED.includes(extname(path))) return [path];
  if (stat?.isDirectory() !== true || existsSync(join(path, "config.yaml"))) return undefined;
  const files = readdirSync(path)
    .filter((name) => COLLECTED.includes(extname(name)))
    .sort();
  return files.length === 0 ? undefined : files.map((name) => join(path, name));
}

const COLLECTED = [".jsonl", ".parquet"];

function ofRun(path: string, query: EpisodeQuery): KeptEpisode[] {
  const run = openKept(path);
  const reader = run.readEpisodes();
  if (reader === undefined) throw noEpisodes(run.path, NONE_IN_RUN);
  return ofStore(reader, run.path, query, NONE_IN_RUN);
}

/** Reads the episodes of a store and closes it. */
function ofStore(reader: EpisodeReader, place: string, query: EpisodeQuery, whyNone: string): KeptEpisode[] {
  try {
    const isPlayedOrder = query.order === "newest" || query.order === "failed";
    const found = isPlayedOrder ? reader.find(query).toReversed() : reader.find(query);
    if (found.length === 0) assertTask(query, reader.tasks(), place, whyNone);
    return firstOf(found.flatMap(toKept), query);
  } finally {
    reader.close();
  }
}

function openKept(path: string): RunDirectory {
  let run: RunDirectory;
  try {
    run = RunDirectory.open(path);
  } catch (error) {
    if (!MrlmError.hasCode(error, "RUN_NOT_FOUND")) throw error;
    throw runNotFound(
      path,
      "is neither a run's directory, an episode store nor a recorded file (.jsonl, .parquet)",
      "Name a run's directory, as `mrlm train` prints it, the file of `mrlm eval --store`, or a file that `mrlm collect` has written.",
    );
  }
  return run;
}

function toKept({ key, step, stage, trajectory }: NumberedEpisode): KeptEpisode[] {
  return toRecordedRows(trajectory, () => "").map((row) => ({ key, step, stage, row }));
}

async function ofFiles(files: readonly string[], query: EpisodeQuery): Promise<KeptEpisode[]> {
  const rows: RecordedRow[] = [];
  for (const file of files) {
    const values = await readRows(file, ".");
    const place = values.findIndex((value) => !isRecordedRow(value));
    if (place >= 0)
      throw new MrlmError("DATA_INVALID", `${file}: row ${place + 1} is not a recorded episode.`, {
        hint: "Name a file that `mrlm collect` has written.",
      });
    rows.push(...values.map((value, i) => parseRecordedRow(value, `${file}: row ${i + 1}`)));
  }
  const { task, order } = query;
  const isLost = (row: RecordedRow): boolean => Boolean(row.error) || Boolean(row.unscored);
  const isWanted = (row: RecordedRow): boolean =>
    order === "failed" ? isLost(row) : order === "newest" || row.reward !== null;
  const wanted = rows.filter(
    (row) => (task === undefined || row.task === task || row.task.startsWith(`${task}/`)) && isWanted(row),
  );
  if (wanted.length === 0)
    assertTask(
      query,
      [...new Set(rows.map((row) => row.task))],
      files.join(", "),
      "`mrlm collect --filter-reward` keeps only episodes that earned as much: lower it, or leave it out.",
    );
  return firstOf(
    wanted.map((row) => ({ row })),
    query,
  );
}

/** Returns the first ones in the order of the query; the newest last, as they were played. */
function firstOf(episodes: readonly KeptEpisode[], { order, limit }: EpisodeQuery): KeptEpisode[] {
  const reward = ({ row }: KeptEpisode): number => row.reward ?? Number.NaN;
  if (order === "best")
    return tasksFirst(episodes)
      .toSorted((one, other) => reward(other) - reward(one))
      .slice(0, limit);
  if (order === "worst")
    return tasksFirst(episodes)
      .toSorted((one, other) => reward(one) - reward(other))
      .slice(0, limit);
  return episodes.toSorted((one, other) => (one.step ?? 0) - (other.step ?? 0)).slice(-limit);
}

/**
 * Returns the first episode of each task and reward, then the second of each, ...: a sort by reward keeps this order
 * where rewards are the same.
 */
function tasksFirst(episodes: readonly KeptEpisode[]): KeptEpisode[] {
  const seen = new Map<string, number>();
  const nth = episodes.map((episode) => {
    const key = JSON.stringify([episode.row.environment, episode.row.task, episode.row.agent, episode.row.reward]);
    seen.set(key, (seen.get(key) ?? 0) + 1);
    return { episode, n: seen.get(key) as number };
  });
  return nth.toSorted((one, other) => one.n - other.n).map(({ episode }) => episode);
}

const NONE_IN_RUN =
  "A run keeps its episodes from the first evaluation or iteration on; a stage without environments (sft and dpo with `data`) plays none.";

function noEpisodes(where: string, hint: string): MrlmError {
  return new MrlmError("EPISODE_NOT_FOUND", `${where} has no episodes.`, { hint });
}

/** Throws where nothing is kept at all, or nothing of the task. */
function assertTask({ task }: EpisodeQuery, tasks: readonly string[], where: string, whyNone: string): void {
  if (tasks.length === 0) throw noEpisodes(where, whyNone);
  if (task === undefined || tasks.some((name) => name === task || name.startsWith(`${task}/`))) return;
  const splits = [...Map.groupBy(tasks, (name) => name.split("/")[0] as string)].map(
    ([split, of]) => `${of.length} tasks of ${split}`,
  );
  throw new MrlmError(
    "TASK_NOT_FOUND",
    `No episode of task "${task}" is kept in ${where}; it has ${splits.join(", ")}.${didYouMean(task, tasks)}`,
    { hint: "Leave --task out to see which tasks there are, or name a split (--task eval)." },
  );
}
