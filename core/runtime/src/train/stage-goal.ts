import type { EnvironmentRef, TrainingEnvironment } from "@mrlm/spec";
import type { ResolvedConfig } from "../config/resolved-config.ts";
import type { EvaluationResult, MeasuredEnvironment } from "../evaluation/evaluate.ts";

type Stage = ResolvedConfig["stages"][number];

/** How good the policy must be for a stage to end before its last iteration. */
export interface StageGoal {
  /** Share of solved tasks at temperature 0, the mean over the environments. */
  readonly accuracy: number;
  /** Iterations between two measurements. */
  readonly every: number;
  /** What it is measured on: the last tasks of the train splits, so that held-out tasks decide nothing. */
  readonly environments: readonly MeasuredEnvironment[];
}

/** The goal of a stage that has `until`. */
export function stageGoal(
  until: NonNullable<Stage["until"]>,
  training: readonly TrainingEnvironment[],
  configured: ResolvedConfig["environments"],
): StageGoal {
  const environments = training.map(({ ref, splits }, i) => {
    const size = splits["train"] as number;
    const first = Math.max(0, size - until.tasks);
    const maxTurns = configured[i]?.max_turns;
    const tasks = Array.from({ length: size - first }, (_, k) => `train/${first + k}`);
    return { ref: ref as EnvironmentRef, tasks, ...(maxTurns === undefined ? {} : { maxTurns }) };
  });
  return { accuracy: until.accuracy, every: until.every, environments };
}

/** Mean of the greedy accuracies; `undefined` where an environment had nothing that could be scored. */
export function goalAccuracy(results: readonly EvaluationResult[]): number | undefined {
  const accuracies = results.flatMap(({ greedy }) => greedy.accuracy ?? []);
  return accuracies.length < results.length
    ? undefined
    : accuracies.reduce((sum, accuracy) => sum + accuracy, 0) / accuracies.length;
}
