import { type Comparison, compareTasks, type EpisodeSummary, type Interval, type storedScores } from "@mrlm/runtime";

/** Score of a case. */
export type TaskScore = ReturnType<typeof storedScores>[number];

/** Difference of mean scores on held-out cases, with its 95 % interval. */
export interface Difference {
  readonly difference: number;
  readonly interval: Interval | null;
  /** Number of distinct cases with a score in both. */
  readonly cases: number;
}

/** Result of an improvement. */
export interface Verdict {
  readonly isGain: boolean;
  /** Reason, as a sentence. */
  readonly reason: string;
  /** Number of answers that the limit of tokens cut. */
  readonly cut: { readonly before: number; readonly after: number };
  readonly overBefore: Difference;
  /** Over the best answer that is the same in every case; absent where the file has no expected answers. */
  readonly overFixed?: Difference;
}

/** Scores of a model on the held-out cases. */
export interface MeasuredModel {
  readonly summary: Pick<EpisodeSummary, "failed" | "unscored" | "cut" | "episodes">;
  readonly scores: readonly TaskScore[];
}

/**
 * Decides whether a model has gained: its mean score exceeds that before beyond the 95 % interval, and that of the best fixed answer too. Else a model that has
 * learnt the form of answers alone would count as better. An episode without a score allows no claim, since the others may be the easier ones.
 * @param fixed scores of the best answer that is the same in every case
 */
export function verdictOf(before: MeasuredModel, after: MeasuredModel, fixed?: readonly TaskScore[]): Verdict {
  const overBefore = differenceOf(compareTasks(before.scores, after.scores));
  const overFixed =
    fixed === undefined ? undefined : differenceOf(compareTasks(clustered(fixed, after.scores), after.scores));
  const lost =
    [before, after].reduce((sum, { summary }) => sum + summary.failed + summary.unscored, 0) +
    (fixed ?? []).filter(({ reward }) => reward === null).length;
  const differences = {
    cut: { before: cutOf(before), after: cutOf(after) },
    overBefore,
    ...(overFixed && { overFixed }),
  };
  const no = (reason: string): Verdict => ({ isGain: false, reason, ...differences });
  if (lost > 0) return no(`${lost} held-out episodes have no score.`);
  if (!isAbove(overBefore)) return no("The interval of the difference to the model before includes zero.");
  if (overFixed !== undefined && !isAbove(overFixed))
    return no(
      "The interval of the difference to one fixed answer includes zero: the model has learnt the form of answers, not the cases.",
    );
  return { isGain: true, reason: "The intervals exclude zero.", ...differences };
}

function differenceOf(comparison: Comparison | undefined): Difference {
  const { difference = 0, interval = null, tasks = 0 } = comparison?.reward ?? {};
  return { difference, interval, cases: tasks };
}

/** Returns the scores with the clusters of others: cases with equal inputs are one observation. */
function clustered(scores: readonly TaskScore[], others: readonly TaskScore[]): TaskScore[] {
  const clusters = new Map(others.map(({ task, cluster }) => [task, cluster]));
  return scores.map((score) => ({ ...score, cluster: clusters.get(score.task) ?? score.cluster }));
}

/** Returns the number of cut answers. An episode that has not failed has one answer. */
function cutOf({ summary: { cut, episodes, failed } }: MeasuredModel): number {
  return Math.round((cut ?? 0) * (episodes - failed));
}

/** Whether a difference is above zero beyond chance. Without an interval all cases have the same difference, or there is one alone, which shows nothing. */
function isAbove({ difference, interval, cases }: Difference): boolean {
  return interval === null ? cases > 1 && difference > 0 : interval[0] > 0;
}
