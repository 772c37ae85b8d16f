import { readFileSync } from "node:fs";
import { extname, resolve } from "node:path";
import { isOfOtherPlayer, type RecordedRow, isRecordedRow, parseRecordedRow } from "@mrlm/kit/learning";
import { fileFault, MrlmError } from "@mrlm/spec";
import { readRows } from "../collection/rows.ts";
import type { EvaluationResult } from "../evaluation/evaluate.ts";
import { type MatchSummary, MatchTally } from "../evaluation/match-tally.ts";
import { byProblem, type Finding, percent } from "./finding.ts";
import { judgePlayed, type PlayedEpisodes } from "./rules/played.ts";
import { WITHOUT_SIGNAL } from "./rules/signal.ts";

/** File of results with its findings. */
export interface ExaminedFile {
  readonly file: string;
  readonly kind: "evaluation" | "collection";
  readonly episodes: number;
  readonly findings: readonly Finding[];
}

const HINT =
  "doctor examines a run's directory, a file of `mrlm eval --output` (.json), or one of `mrlm collect` (.jsonl, .parquet).";

/** Examines a file from `mrlm eval --output` or `mrlm collect`. Rejects with DATA_INVALID for any other file. */
export async function examineFile(path: string): Promise<ExaminedFile> {
  const file = resolve(path);
  if (extname(file) === ".json") return examineEvaluation(file);
  if ([".jsonl", ".parquet"].includes(extname(file))) return examineCollection(file);
  throw new MrlmError("DATA_INVALID", `${file} ends neither in .json nor in .jsonl or .parquet.`, { hint: HINT });
}

function examineEvaluation(file: string): ExaminedFile {
  let record: (Partial<EvaluationResult> & { readonly results?: readonly Partial<EvaluationResult>[] }) | null;
  try {
    record = JSON.parse(readFileSync(file, "utf8")) as typeof record;
  } catch (cause) {
    const reason = cause instanceof SyntaxError ? "is not JSON" : "cannot be read";
    throw new MrlmError("DATA_INVALID", `${file} ${reason}: ${fileFault(cause)}`, { hint: HINT, cause });
  }
  // A model that plays several roles has one result for each.
  const summaries = (record?.results ?? [record ?? {}]).flatMap(({ environment, greedy, sampled }) => {
    if (environment === undefined || typeof greedy?.episodes !== "number")
      throw new MrlmError("DATA_INVALID", `${file} is not the result of an evaluation.`, { hint: HINT });
    const kinds = [["greedy", greedy] as const, ...(sampled === undefined ? [] : [["sampled", sampled] as const])];
    return kinds.map(([kind, summary]) => ({ ...summary, source: `The ${kind} evaluation of ${environment}` }));
  });
  const played =
    record?.results === undefined ? summaries : summaries.slice(0, summaries.length / record.results.length);
  return {
    file,
    kind: "evaluation",
    episodes: played.reduce((sum, { episodes }) => sum + episodes, 0),
    findings: byProblem(summaries.flatMap((summary) => judgePlayed(summary))),
  };
}

async function examineCollection(file: string): Promise<ExaminedFile> {
  const values = await readRows(file, ".");
  if (!values.every(isRecordedRow))
    throw new MrlmError("DATA_INVALID", `${file} has rows that are not recorded episodes.`, { hint: HINT });
  const rows = values.map((value, i) => parseRecordedRow(value, `${file}: row ${i + 1}`));
  const played = rows.filter((row) => !isOfOtherPlayer(row));
  const findings = [
    ...judgePlayed({ ...inNumbers(played), matches: matchesOfRows(rows) }),
    ...groupsWithoutSignal(played),
  ];
  const empty: Finding = {
    rule: "no-episodes",
    severity: "problem",
    what: "The file has no episodes.",
    advice: "Lower --filter-reward, or collect with a model that earns more.",
  };
  return {
    file,
    kind: "collection",
    episodes: new Set(rows.map(({ id }) => id)).size,
    findings: rows.length === 0 ? [empty] : byProblem(findings),
  };
}

function inNumbers(rows: readonly RecordedRow[]): PlayedEpisodes {
  const turns = rows.flatMap((row) => row.turns);
  const [error, unscored] = [
    rows.find((row) => row.error)?.error,
    rows.find((row) => !row.error && row.unscored)?.unscored,
  ];
  return {
    source: "The file",
    episodes: rows.length,
    failed: rows.filter((row) => row.error).length,
    unscored: rows.filter((row) => !row.error && row.unscored).length,
    truncated: rows.filter(({ truncated }) => truncated).length,
    cut: turns.length === 0 ? null : turns.filter(({ stop_reason }) => stop_reason === "length").length / turns.length,
    tokens:
      rows.length === 0
        ? null
        : turns.reduce((sum, { start, end }) => sum + (end ?? 0) - (start ?? 0), 0) / rows.length,
    firstError: error ? `${error.code}: ${error.message}` : undefined,
    firstUnscored: unscored ? `${unscored.code}: ${unscored.message}` : undefined,
  };
}

function matchesOfRows(rows: readonly RecordedRow[]): readonly MatchSummary[] {
  const tally = new MatchTally();
  for (const parts of Map.groupBy(
    rows.filter(({ error, player }) => !error && player),
    ({ id }) => id,
  ).values()) {
    const [first] = parts as [RecordedRow];
    tally.add(
      JSON.stringify([first.environment, first.task]),
      parts.map(({ role, player, reward }) => ({ role, player: player as NonNullable<typeof player>, reward })),
    );
  }
  return tally.summaries();
}

/** DPO compares the episodes of a group; a group whose rewards are all equal gives no pair. */
function groupsWithoutSignal(rows: readonly RecordedRow[]): Finding[] {
  const scored = rows.filter(({ reward }) => reward !== null);
  const groups = [...Map.groupBy(scored, ({ group, role }) => `${group} ${role}`).values()].filter(
    ({ length }) => length > 1,
  );
  const equal =
    groups.filter((group) => group.every(({ reward }) => reward === group[0]?.reward)).length / groups.length;
  if (!(equal > WITHOUT_SIGNAL)) return [];
  return [
    {
      rule: "groups-without-signal",
      severity: "hint",
      what: `In ${percent(equal)} of the ${groups.length} groups all episodes earned the same: DPO has no pair to learn from there.`,
      advice:
        "Collect larger groups, at a higher temperature, or from tasks that the model solves some of the time. Learning by SFT is not affected.",
    },
  ];
}
