import {
  type Determinism,
  type EnvironmentDefinition,
  MrlmError,
  type ResetOptions,
  type TaskId,
  type TaskSource,
} from "@mrlm/spec";
import { randomStream } from "@mrlm/kit";
import { didYouMean } from "../names/nearest.ts";

/** Checks the seed and task of a reset. Chooses a missing seed at random, and a missing training task by the seed. */
export function settleReset(
  definition: EnvironmentDefinition,
  determinism: Determinism,
  tasks: TaskSource,
  options: ResetOptions,
): Omit<ResetOptions, "signal"> {
  const isSeeded = determinism !== "none";
  const { seed, task } = options;
  if (seed !== undefined && !isSeeded)
    throw new MrlmError(
      "SEED_REFUSED",
      `Environment ${definition.id} promises no determinism and takes no seed; it was given ${seed}.`,
    );
  if (seed !== undefined && !Number.isSafeInteger(seed)) {
    throw new MrlmError("OPTIONS_INVALID", `The seed ${seed} is not a whole number within ±2^53.`, {
      hint: "Give a whole number as the seed.",
    });
  }
  const chosen = seed ?? Math.floor(Math.random() * 2 ** 32);
  const settledTask = task === undefined ? chooseTask(tasks, chosen) : checkTask(definition, tasks, task);
  return { ...(isSeeded ? { seed: chosen } : {}), ...(settledTask === undefined ? {} : { task: settledTask }) };
}

/** Splits `train/17`; `undefined` for another form. */
export function parseTaskId(task: TaskId): { split: string; index: number } | undefined {
  const match = /^([^/]+)\/(0|[1-9][0-9]{0,15})$/.exec(task);
  return match ? { split: match[1] as string, index: Number(match[2]) } : undefined;
}

/** Rejects a task that the environment does not have. */
export function checkTask(definition: EnvironmentDefinition, tasks: TaskSource, task: TaskId): TaskId {
  if (definition.tasks === undefined)
    throw new MrlmError(
      "TASK_NOT_SUPPORTED",
      `Environment ${definition.id} has no tasks to choose from; it was asked for "${task}".`,
    );
  const parsed = parseTaskId(task);
  const size =
    parsed === undefined || !Object.hasOwn(tasks.splits, parsed.split) ? undefined : tasks.splits[parsed.split];
  if (parsed === undefined || size === undefined || parsed.index >= size) {
    const offered = Object.entries(tasks.splits).map(([split, count]) =>
      count > 0 ? `${split}/0 to ${split}/${count - 1}` : `none of ${split}`,
    );
    const nearest =
      parsed === undefined || size !== undefined
        ? ""
        : didYouMean(
            task,
            Object.keys(tasks.splits).map((split) => `${split}/${parsed.index}`),
          );
    throw new MrlmError(
      "TASK_NOT_FOUND",
      `Environment ${definition.id} has no task "${task}"; it has ${offered.join(", ") || "none"}.${nearest}`,
    );
  }
  return task;
}

function chooseTask(tasks: TaskSource, seed: number): TaskId | undefined {
  const size = tasks.splits["train"] ?? 0;
  return size === 0 ? undefined : `train/${randomStream("task", seed).integer(0, size - 1)}`;
}
