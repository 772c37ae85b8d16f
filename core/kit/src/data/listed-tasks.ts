import type { JsonObject, Task, TaskSource } from "@mrlm/spec";
import { assertTaskIndex } from "../generated-tasks.ts";

/** Returns a source of tasks in memory, by split. */
export function listedTasks<T, Public extends JsonObject, Private extends JsonObject>(
  lists: Readonly<Record<string, readonly T[]>>,
  toTask: (row: T) => Omit<Task<Public, Private>, "id">,
): TaskSource<Public, Private> {
  return {
    splits: Object.fromEntries(Object.entries(lists).map(([split, rows]) => [split, rows.length])),
    async get(split, index) {
      const rows = Object.hasOwn(lists, split) ? lists[split] : undefined;
      assertTaskIndex(split, index, rows?.length);
      return { id: `${split}/${index}`, ...toTask(rows?.[index] as T) };
    },
  };
}
