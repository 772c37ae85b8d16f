import type { EnvironmentContext, JsonObject, Task, TaskId, TaskSource } from "@mrlm/spec";

/** The task that an id such as `train/17` names. Rejects with TASK_NOT_FOUND as its source does. */
export async function taskById<Public extends JsonObject, Private extends JsonObject>(
  tasks: TaskSource<Public, Private>,
  id: TaskId,
): Promise<Task<Public, Private>> {
  const [split, index] = id.split("/") as [string, string];
  return tasks.get(split, Number(index));
}

/** A task for a reset that names none: of the first split that has any, drawn under the reset's seed. */
export function anyTask({ tasks, random }: Pick<EnvironmentContext, "tasks" | "random">, seed: number): TaskId {
  const [split, size] = Object.entries(tasks.splits).find(([, count]) => count > 0) as [string, number];
  return `${split}/${random("task", seed).integer(0, size - 1)}`;
}
