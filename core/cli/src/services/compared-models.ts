import { type Comparison, compareTasks, type RunDirectory, storedScores } from "@mrlm/runtime";
import type { EpisodeReader } from "@mrlm/store";
import { kindsOf, type RecordedResult, resultsOf } from "./evaluation-run.ts";

/** Comparison of two models in one environment. Positive differences favour the second one. */
export interface ComparedModels extends Comparison {
  readonly environment: string;
  readonly kind: "greedy" | "sampled";
  readonly first: string;
  readonly second: string;
}

/** Places of the episodes of a model in an environment. */
interface Played {
  readonly name: string;
  readonly result: RecordedResult;
  readonly run: RunDirectory;
}

/**
 * Compares models on the same tasks, by environment: those of another evaluation with each of this one, else the first model with each other one.
 * @param other directory of another evaluation
 */
export function compareModels(run: RunDirectory, other: RunDirectory | undefined): ComparedModels[] {
  const own = playedIn(run);
  const pairs =
    other === undefined
      ? own.flatMap((second) =>
          own
            .filter((first) => first.name === own[0]?.name && first !== second)
            .map((first) => [first, second] as const),
        )
      : playedIn(other).flatMap((first) => own.map((second) => [first, second] as const));
  return pairs
    .filter(
      ([first, second]) => isSame(first.result, second.result) && (other !== undefined || first.name !== second.name),
    )
    .flatMap(([first, second]) => compare(first, second));
}

/** Returns the environments of an evaluation that another one has not measured in the same way. */
export function uncompared(run: RunDirectory, other: RunDirectory): string[] {
  const theirs = playedIn(other);
  const alone = playedIn(run).filter(({ result }) => !theirs.some((each) => isSame(each.result, result)));
  return [...new Set(alone.map(({ result }) => environmentOf(result)))];
}

/** Returns the name of the environment of all roles. */
function environmentOf({ role, environment }: RecordedResult): string {
  return role === undefined ? environment : environment.replace(/\/[^/]*$/, "");
}

/** Returns what an evaluation has measured, each model and environment once: roles share their episodes. */
function playedIn(run: RunDirectory): Played[] {
  const cells = new Map(resultsOf(run).map((result) => [JSON.stringify([result.name, result.episodes]), result]));
  return Array.from(cells.values(), (result) => ({ name: result.name, result, run }));
}

function isSame(one: RecordedResult, other: RecordedResult): boolean {
  return one.environment_key === other.environment_key && one.split === other.split;
}

function compare(first: Played, second: Played): ComparedModels[] {
  const [one, other] = [scoresOf(first), scoresOf(second)];
  return (["greedy", "sampled"] as const).flatMap((kind) => {
    const comparison = compareTasks(one[kind], other[kind]);
    const environment = environmentOf(second.result);
    // Two evaluations of one model name have their directories beside it.
    const named = ({ name, run }: Played): string => (first.name === second.name ? `${name} in ${run.path}` : name);
    return comparison === undefined
      ? []
      : [{ environment, kind, first: named(first), second: named(second), ...comparison }];
  });
}

type Scores = ReturnType<typeof storedScores>;

function scoresOf({ result, run }: Played): Readonly<Record<"greedy" | "sampled", Scores>> {
  const reader = run.readEpisodes() as EpisodeReader;
  try {
    const scores = (kind: string): Scores => {
      const found = kindsOf(result).find(({ label }) => label.endsWith(`/${kind}`));
      return found === undefined ? [] : storedScores(found, reader);
    };
    return { greedy: scores("greedy"), sampled: scores("sampled") };
  } finally {
    reader.close();
  }
}
