import type { EpisodeSummary, EvaluationResult, Interval } from "@mrlm/runtime";
import { decimal, percent } from "./numbers.ts";
import { table } from "./table.ts";

/** An evaluation for people: a row for the greedy and the sampled episodes, components, and pass@k. */
export function evaluationReport(result: EvaluationResult): string {
  const kinds = [["greedy", result.greedy] as const, ...(result.sampled === undefined ? [] : [["sampled", result.sampled] as const])];
  const heading = ["", "episodes", "accuracy", "95 %", "reward", "95 %", "tokens", "cut answers", "truncated", "unscored", "failed"];
  const rows = kinds.map(([name, it]) => [
    name,
    String(it.episodes),
    decimal(it.accuracy),
    range(it.intervals.accuracy),
    decimal(it.reward),
    range(it.intervals.reward),
    it.tokens?.toFixed(1) ?? "-",
    percent(it.cut),
    String(it.truncated),
    String(it.unscored),
    String(it.failed),
  ]);
  return [table([heading, ...rows]), ...causes(result), ...componentTable(kinds), ...passTable(result)].join("\n\n");
}

/** Share of cut answers of the greedy and the sampled episodes together; `null` where it is not known. */
export function cutAnswers({ greedy, sampled }: { readonly greedy: EpisodeSummary; readonly sampled?: EpisodeSummary | undefined }): number | null {
  const known = [greedy, ...(sampled === undefined ? [] : [sampled])].filter(({ cut }) => typeof cut === "number");
  const episodes = known.reduce((sum, summary) => sum + summary.episodes, 0);
  return episodes === 0 ? null : known.reduce((sum, summary) => sum + (summary.cut as number) * summary.episodes, 0) / episodes;
}

/** Why episodes failed, or have no score: the first of each, which mostly stands for all. */
function causes({ greedy, sampled }: EvaluationResult): string[] {
  const failed = greedy.firstError ?? sampled?.firstError;
  const unscored = greedy.firstUnscored ?? sampled?.firstUnscored;
  const lines = [...(failed === undefined ? [] : [`failed, the first: ${failed}`]), ...(unscored === undefined ? [] : [`without a score, the first: ${unscored}`])];
  return lines.length === 0 ? [] : [lines.join("\n")];
}

function componentTable(kinds: readonly (readonly [string, EpisodeSummary])[]): string[] {
  const names = [...new Set(kinds.flatMap(([, { components }]) => Object.keys(components)))].sort();
  if (names.length === 0) return [];
  const heading = ["component", ...kinds.flatMap(([kind]) => [kind, "95 %"])];
  const rows = names.map((name) => [name, ...kinds.flatMap(([, it]) => [decimal(it.components[name]), range(it.intervals.components[name])])]);
  return [table([heading, ...rows])];
}

function passTable({ sampled }: EvaluationResult): string[] {
  if (sampled === undefined || sampled.passAtK.length === 0) return [];
  return [table([["", "chance", "95 %", "tasks"], ...sampled.passAtK.map(({ k, value, interval, tasks }) => [`pass@${k}`, decimal(value), range(interval), String(tasks)])])];
}

function range(interval: Interval | null | undefined): string {
  return interval === null || interval === undefined ? "-" : `${decimal(interval[0])} - ${decimal(interval[1])}`;
}
