import {
  defined,
  divide,
  type EnvironmentContext,
  invalidRow,
  listedTasks,
  readJsonl,
  type TaskSource,
} from "@mrlm/kit";
import { parseRow } from "@mrlm/kit/options";
import { z } from "zod";
import type { AgentOptions } from "./options.ts";

/** Public part of a task, which the program receives. */
export interface Shown extends Record<string, string | Record<string, string>> {
  readonly instruction: string;
  /** Texts of files by their paths in the workspace. */
  readonly files: Record<string, string>;
}

/** Private part of a task. */
export type Hidden = { readonly answer?: string };

/** Whether a score reads the answer of a row: without one, what a program did not do would equal it. */
function needsAnswer({ scorer, command = "" }: AgentOptions["score"]): boolean {
  return scorer !== undefined || /\$\{?SCORE\}?"?\/answer/.test(command);
}

const rowSchema = z.object({
  instruction: z.string().min(1),
  answer: z.union([z.string(), z.number().transform(String)], "must be a text or a number").optional(),
  files: z.record(z.string().min(1), z.string()).default({}),
});

/** Returns the tasks of a file. All rows are checked before the first task is used. Throws DATA_INVALID, with file and line, for a malformed row. */
export async function agentTasks(
  context: EnvironmentContext,
  { data, score, task_seed }: AgentOptions,
): Promise<TaskSource<Shown, Hidden>> {
  const rows = (await readJsonl(context.dataPath(data.path), "data.path")).map(({ value, place }) => {
    const row = parseRow(rowSchema, value, place);
    if (row.answer === undefined && needsAnswer(score))
      throw invalidRow(place, "the row has no `answer`, which the score compares with what the program left");
    return { ...row, question: row.instruction };
  });
  return listedTasks({ ...divide(rows, data.eval_share, task_seed) }, ({ instruction, files, answer }) => ({
    public: { instruction, files },
    private: defined({ answer }),
  }));
}
