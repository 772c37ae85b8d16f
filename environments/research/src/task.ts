import type { JsonObject, Task } from "@mrlm/kit";

/** Public fields of a task. */
export interface Shown {
  readonly question: string;
  /** Pages that a generated question needs. */
  readonly hops?: number;
  readonly id?: string | number;
}

/** Private fields of a task. */
export interface Hidden {
  readonly answer: string;
  /** Pages that the toolset searches; omitted where it has a corpus of its own. */
  readonly site?: Readonly<Record<string, string>>;
}

export function shownOf(task: Task): Shown {
  return task.public as unknown as Shown;
}

export function hiddenOf(task: Task): Hidden {
  return task.private as unknown as Hidden;
}

/** Converts fields of a task to JSON. */
export function jsonOf(fields: Shown | Hidden): JsonObject {
  return fields as unknown as JsonObject;
}
