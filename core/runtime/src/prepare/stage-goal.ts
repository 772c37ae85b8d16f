import { defined, type TrainingEnvironment } from "@mrlm/spec";
import type { ResolvedConfig } from "../config/resolve-config.ts";
import { isWithoutAgents } from "../evaluation/assert-scored.ts";
import type { EvaluationResult, MeasuredEnvironment } from "../evaluation/evaluate.ts";

type Stage = ResolvedConfig["stages"][number];

/** Accuracy at which a stage ends before its last iteration. */
export interface StageGoal {
  /** Share of tasks solved at temperature 0, the mean over the environments. */
  readonly accuracy: number;
  /** Iterations between two measurements. */
  readonly every: number;
  /** Tasks of the measurement: the last ones of the train splits, so that held-out tasks have no influence on training. */
  readonly environments: readonly MeasuredEnvironment[];
}

/** Returns the goal of a stage that has `until`. */
export function stageGoal(
  until: NonNullable<Stage["until"]>,
  training: readonly (TrainingEnvironment & Pick<MeasuredEnvironment, "players" | "sides">)[],
  configured: ResolvedConfig["environments"],
): StageGoal {
  const environments = training.map(({ ref, splits, players, sides }, i): MeasuredEnvironment => {
    const size = splits["train"] as number;
    const first = Math.max(0, size - until.tasks);
    const maxTurns = configured[i]?.max_turns;
    const tasks = Array.from({ length: size - first }, (_, k) => `train/${first + k}`);
    return {
      ref,
      tasks,
      players,
      ...defined({ sides, maxTurns }),
    };
  });
  return { accuracy: until.accuracy, every: until.every, environments };
}

/** Returns the mean of the greedy accuracies; `undefined` if an environment has no scored episode. Leaves out roles without agents. */
export function goalAccuracy(results: readonly EvaluationResult[]): number | undefined {
  const measured = results.filter((result) => !isWithoutAgents(result));
  const accuracies = measured.flatMap(({ greedy }) => greedy.accuracy ?? []);
  return accuracies.length === 0 || accuracies.length < measured.length
    ? undefined
    : accuracies.reduce((sum, accuracy) => sum + accuracy, 0) / accuracies.length;
}
