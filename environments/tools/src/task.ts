import type { JsonObject, Task } from "@mrlm/kit";

/** Tool that a task requires: its name, or the names of tools of which one is enough. */
export type RequiredTool = string | readonly string[];

/** Call of a worked solution. */
export interface PlannedCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** Files by path. */
export type Files = Readonly<Record<string, string>>;

/** Public fields of a task. */
export interface Shown {
  readonly question: string;
  /** Omitted: the row does not state which tools it requires. */
  readonly required_tools?: readonly RequiredTool[];
  readonly scorer?: string;
  readonly answer_schema?: string;
}

/** Private fields of a task. */
export interface Hidden {
  readonly answer: string;
  /** Files of the episode, for every toolset. */
  readonly files?: Files;
  /** Pages in place of the files, for the toolset `web`. Its tools then show no file, and those of `files` show no page. */
  readonly site?: Files;
  /** Turns of a worked solution before the answer; omitted for rows of a file. */
  readonly plan?: readonly (readonly PlannedCall[])[];
}

/** Returns the public fields of a task. */
export function shownOf(task: Task): Shown {
  return task.public as unknown as Shown;
}

/** Returns the private fields of a task. */
export function hiddenOf(task: Task): Hidden {
  return task.private as unknown as Hidden;
}

/** Converts fields of a task to JSON. */
export function jsonOf(fields: Shown | Hidden): JsonObject {
  return fields as unknown as JsonObject;
}
