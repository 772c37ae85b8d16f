import type { JsonObject } from "@mrlm/spec";
import type { Comparison, EvaluationResult, Interval } from "@mrlm/runtime";

/** Result of a model in an environment. */
export interface ShownResult extends EvaluationResult {
  readonly name: string;
}

/** Comparison of two models in an environment. */
export interface ShownComparison extends Comparison {
  readonly environment: string;
  readonly kind: string;
  readonly first: string;
  readonly second: string;
}

/** Table of an evaluation. The first row is the heading. */
export interface ShownTable {
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
}

/** Returns the tables of an evaluation; none for another run. @param record of run.json */
export function evaluationTables({ kind, results, comparisons }: JsonObject): ShownTable[] {
  if (kind !== "evaluation") return [];
  const [measured, compared] = [results ?? [], comparisons ?? []] as unknown as readonly [
    readonly ShownResult[],
    readonly ShownComparison[],
  ];
  return [resultTable(measured), ...(compared.length === 0 ? [] : [comparisonTable(compared)])];
}

/** Returns the results of all models in all environments as a table: a row for each kind of episodes. */
export function resultTable(results: readonly ShownResult[]): ShownTable {
  const kinds = results.flatMap(({ greedy, sampled, ...result }) => [
    { ...result, kind: "greedy", summary: greedy },
    ...(sampled === undefined ? [] : [{ ...result, kind: "sampled", summary: sampled }]),
  ]);
  const most = Math.max(1, ...kinds.map(({ summary }) => summary.passAtK.at(-1)?.k ?? 1));
  const rows = kinds.map(({ name, environment, kind, tasks, summary }) => {
    const { accuracy, strictAccuracy = accuracy, intervals, reward, failed, unscored, tokens, cost, passAtK } = summary;
    const best = passAtK.find(({ k }) => k === most);
    return [
      ...[name, environment, kind, String(summary.differentTasks ?? tasks)],
      ...[number(accuracy), range(intervals.accuracy), number(strictAccuracy), number(reward)],
      ...(most > 1 ? [number(best?.value), number(best?.all.value)] : []),
      ...[String(failed + unscored), tokens?.toFixed(1) ?? "-", perEpisode(cost?.seconds, summary.episodes)],
    ];
  });
  const pass = most > 1 ? [`pass@${most}`, `pass^${most}`] : [];
  const heading = [
    "model",
    "environment",
    "episodes",
    "tasks",
    "accuracy",
    "95 %",
    "failed as wrong",
    "reward",
    ...pass,
  ];
  return { title: "Results", rows: [[...heading, "without score", "tokens", "seconds"], ...rows] };
}

/** Returns the comparisons of two models each as a table. */
export function comparisonTable(comparisons: readonly ShownComparison[]): ShownTable {
  const rows = comparisons.map(
    ({ environment, kind, first, second, tasks, difference, interval, mcnemar, ...others }) => [
      ...[first, second, environment, kind, String(tasks), signed(difference), range(interval)],
      ...[mcnemar === undefined ? "-" : `${mcnemar.onlyFirst} / ${mcnemar.onlySecond}`, number(mcnemar?.p)],
      ...[others.reward === null ? "-" : signed(others.reward.difference), range(others.reward?.interval)],
      others.tasksToShow === null ? "-" : String(others.tasksToShow),
    ],
  );
  const heading = [
    "first",
    "second",
    "environment",
    "episodes",
    "tasks",
    "accuracy",
    "95 %",
    "only first / second",
    "McNemar p",
  ];
  return {
    title: "Differences, second - first",
    rows: [[...heading, "reward", "95 %", "tasks that show +5 points"], ...rows],
  };
}

function number(value: number | null | undefined): string {
  return value === null || value === undefined ? "-" : value.toFixed(3);
}

function signed(value: number): string {
  return `${value >= 0 ? "+" : ""}${value.toFixed(3)}`;
}

function range(interval: Interval | null | undefined): string {
  return interval === null || interval === undefined ? "-" : `${number(interval[0])} - ${number(interval[1])}`;
}

function perEpisode(seconds: number | undefined, episodes: number): string {
  return seconds === undefined || episodes === 0 ? "-" : (seconds / episodes).toFixed(2);
}
