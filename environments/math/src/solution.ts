import type { JsonObject, Task } from "@mrlm/kit";
import type { MathOptions } from "./options.ts";

/** Solution of a task, which only the environment may read. */
export interface Solution {
  readonly answer: string;
  /** Worked steps that lead to the answer, one line each. */
  readonly steps: readonly string[];
  /** `value`: equality by the scorer. `digits`: equal characters. */
  readonly compare: "value" | "digits";
}

/** Converts a solution to the private fields of a task. */
export function sealed({ answer, steps, compare }: Solution): JsonObject {
  return { answer, steps: [...steps], compare };
}

/** Reads the solution from the private fields of a task. */
export function solutionOf(task: Task): Solution {
  return task.private as unknown as Solution;
}

/** Returns the place of the answer: that of the row of the task, else that of the options. */
export function schemaOf(task: Task, options: MathOptions): string {
  return (task.public["answer_schema"] as string | undefined) ?? options.answer_schema;
}

/** Returns the scorer of a task: that of its row, else `math@2`. */
export function scorerOf(task: Task): string {
  return (task.public["scorer"] as string | undefined) ?? "math@2";
}
