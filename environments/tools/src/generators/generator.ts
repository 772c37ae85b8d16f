import type { RandomStream } from "@mrlm/kit";
import type { Files, PlannedCall, RequiredTool } from "../task.ts";

/** Generated task with a worked solution. */
export interface GeneratedProblem {
  /** Question in whole sentences. It differs between tasks. */
  readonly prose: string;
  /** Question with as few characters as can be. */
  readonly terse: string;
  /** Integer in decimal digits. */
  readonly answer: string;
  readonly required: readonly RequiredTool[];
  readonly files?: Files;
  readonly site?: Files;
  readonly plan: readonly (readonly PlannedCall[])[];
}

/** Generator of tasks that need the same tools. */
export interface Generator {
  /** Names of the toolsets whose tools the tasks need. */
  readonly toolsets: readonly string[];
  /** Turns of the worked solution, with the answer. */
  readonly turns: number;
  /** @param difficulty from 1 to 10 */
  generate(random: RandomStream, difficulty: number): GeneratedProblem;
}
