import type { EnvironmentContext, JsonObject, Task, TaskId, TaskSource } from "@mrlm/spec";

/** Returns the task of an id such as `train/17`. Rejects with TASK_NOT_FOUND. */
export async function taskById<Public extends JsonObject, Private extends JsonObject>(
  tasks: TaskSource<Public, Private>,
  id: TaskId,
): Promise<Task<Public, Private>> {
  const [split, index] = id.split("/") as [string, string];
  return tasks.get(split, Number(index));
}

/** Draws a task for a reset without a task: from the first split that is not empty, by the seed of the reset. */
export function anyTask({ tasks, random }: Pick<EnvironmentContext, "tasks" | "random">, seed: number): TaskId {
  const [split, size] = Object.entries(tasks.splits).find(([, count]) => count > 0) as [string, number];
  return `${split}/${random("task", seed).integer(0, size - 1)}`;
}
