import type { JsonObject, Task } from "@mrlm/spec";
import type { MathOptions } from "./options.ts";

/** What only the environment may know of a task. */
export interface Solution {
  readonly answer: string;
  /** Worked steps that lead to the answer, one line each. */
  readonly steps: readonly string[];
  /** `value`: as the scorer judges. `digits`: the very same characters. */
  readonly compare: "value" | "digits";
}

/** The private side of a task. */
export function sealed({ answer, steps, compare }: Solution): JsonObject {
  return { answer, steps: [...steps], compare };
}

/** The private side of a task, read back. */
export function solutionOf(task: Task): Solution {
  return task.private as unknown as Solution;
}

/** Where a task's answer belongs: its row may say so, else the options do. */
export function schemaOf(task: Task, options: MathOptions): string {
  return (task.public["answer_schema"] as string | undefined) ?? options.answer_schema;
}

/** The scorer of a task: that of its row, else the verifier of this environment. */
export function scorerOf(task: Task): string {
  return (task.public["scorer"] as string | undefined) ?? "math@1";
}
