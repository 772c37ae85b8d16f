import { bootstrapInterval, type Interval } from "./intervals.ts";
import { tasksToShow, variance } from "./power.ts";
import type { TaskScore } from "./summarise.ts";

/** Comparison of two models on the same tasks, of which equal ones count once. Positive differences favour the second one. */
export interface Comparison {
  readonly tasks: number;
  /** Mean difference of the share of episodes that solved a task. Episodes that failed or have no score count as wrong. */
  readonly difference: number;
  /** 95 % bootstrap interval over tasks; `null` where no task differs, or there are fewer than two. */
  readonly interval: Interval | null;
  /** The same of mean rewards, over the tasks in which both models have some. */
  readonly reward: { readonly tasks: number; readonly difference: number; readonly interval: Interval | null } | null;
  /** McNemar's exact test; absent where a task has several episodes. */
  readonly mcnemar?: { readonly onlyFirst: number; readonly onlySecond: number; readonly p: number };
  /** Tasks that show a difference of 5 points at 80 % power; `null` where no task differs. */
  readonly tasksToShow: number | null;
}

/**
 * Returns the p-value of McNemar's exact two-sided test (Psychometrika 12, 1947; Fagerland et al., BMC Medical Research Methodology 13:91, 2013, equation 3):
 * min(1, 2 Σ_{i=0}^{min(b,c)} C(b+c, i) / 2^{b+c})
 * @param b tasks that the first one alone solves
 * @param c tasks that the second one alone solves
 */
export function mcnemar(b: number, c: number): number {
  const n = b + c;
  let log = -n * Math.LN2;
  let sum = Math.exp(log);
  for (let i = 1; i <= Math.min(b, c); i++) {
    log += Math.log((n - i + 1) / i);
    sum += Math.exp(log);
  }
  return Math.min(1, 2 * sum);
}

/** Compares the scores of two models by task. `undefined` where they share no task. */
export function compareTasks(first: readonly TaskScore[], second: readonly TaskScore[]): Comparison | undefined {
  const others = new Map(second.map((score) => [score.task, score]));
  const pairs = first.flatMap((one) => {
    const other = others.get(one.task);
    return other === undefined ? [] : [{ one, other }];
  });
  if (pairs.length === 0) return undefined;
  const different = [...Map.groupBy(pairs, ({ one }) => one.cluster).values()];
  const means = (valueOf: (pair: (typeof pairs)[number]) => number | null): number[] =>
    different.flatMap((same) => {
      const values = same.flatMap((pair) => valueOf(pair) ?? []);
      return values.length === 0 ? [] : [values.reduce((sum, value) => sum + value, 0) / values.length];
    });
  const solved = means(({ one, other }) => other.solved - one.solved);
  const rewards = means(({ one, other }) =>
    one.reward === null || other.reward === null ? null : other.reward - one.reward,
  );
  const isSingle = pairs.every(({ one, other }) => one.episodes === 1 && other.episodes === 1);
  // Equal tasks are one observation: the first of them stands for all.
  const representatives = different.map(([pair]) => pair as (typeof pairs)[number]);
  const only = (wanted: -1 | 1): number =>
    representatives.filter(({ one, other }) => Math.sign(other.solved - one.solved) === wanted).length;
  return {
    tasks: solved.length,
    ...ofDifferences(solved),
    reward: rewards.length === 0 ? null : { tasks: rewards.length, ...ofDifferences(rewards) },
    ...(isSingle ? { mcnemar: { onlyFirst: only(-1), onlySecond: only(1), p: mcnemar(only(-1), only(1)) } } : {}),
    tasksToShow: tasksToShow(variance(solved)),
  };
}

function ofDifferences(differences: readonly number[]): {
  readonly difference: number;
  readonly interval: Interval | null;
} {
  const difference = differences.reduce((sum, value) => sum + value, 0) / differences.length;
  // Without a task that differs a bootstrap would have no width.
  const isEqual = variance(differences) < 1e-12;
  return { difference, interval: isEqual ? null : bootstrapInterval(differences.map((sum) => ({ sum, count: 1 }))) };
}
