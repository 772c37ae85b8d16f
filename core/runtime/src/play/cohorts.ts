import { minibatches } from "@mrlm/kit/learning";
import type { TaskId } from "@mrlm/spec";
import type { TaskDraw } from "./task-order.ts";

/** Groups that are played together: they share sampling waves, and the last bits of their logits depend on it. */
export interface TaskCohort {
  /** Index of the environment in the configuration. */
  readonly environment: number;
  /** Index of the part among those of the environment. */
  readonly part: number;
  readonly tasks: readonly TaskId[];
  /** Number of earlier groups of the same task in the draw, for each task. */
  readonly occurrences: readonly number[];
}

/** Divides each environment's tasks into at most `parts` cohorts of nearly equal size, in order. Group ids do not depend on the division. */
export function cohortsOf(draws: readonly TaskDraw[], parts: number): TaskCohort[] {
  return draws.flatMap(({ environment, tasks }) => {
    const seen = new Map<TaskId, number>();
    const counted = tasks.map((task) => {
      const occurrence = seen.get(task) ?? 0;
      seen.set(task, occurrence + 1);
      return { task, occurrence };
    });
    return minibatches(counted, parts).map((own, part) => ({
      environment,
      part,
      tasks: own.map(({ task }) => task),
      occurrences: own.map(({ occurrence }) => occurrence),
    }));
  });
}
