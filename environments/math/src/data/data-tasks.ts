import { divide, invalidRow, listedTasks } from "@mrlm/kit";
import { type EnvironmentContext, MrlmError, type Task, type TaskSource } from "@mrlm/spec";
import type { MathOptions } from "../options.ts";
import { sealed } from "../solution.ts";
import { type PlacedRow, readRows } from "./read-rows.ts";

/** The problems of a file, all checked before the first is given. */
export async function dataTasks(context: EnvironmentContext, data: NonNullable<MathOptions["data"]>, seed: number): Promise<TaskSource> {
  const rows = await readRows(data);
  checkScorers(context, rows);
  const { train, eval: held } = divide(rows, data.eval_share, seed);
  return listedTasks({ train, eval: held }, taskOf);
}

/** A scorer that no plugin provides is an error, never another scorer's verdict. */
function checkScorers(context: EnvironmentContext, rows: readonly PlacedRow[]): void {
  const known = new Set<string>();
  for (const { scorer, place } of rows) {
    if (scorer === undefined || known.has(scorer)) continue;
    try {
      context.scorer(scorer);
    } catch (error) {
      if (!MrlmError.isInstance(error)) throw error;
      throw invalidRow(place, `there is no scorer "${scorer}" for this environment`, "Rows of math@1 are graded by the scorer math@1; leave the field out or correct it.");
    }
    known.add(scorer);
  }
}

function taskOf({ question, answer, steps, scorer, answer_schema, info }: PlacedRow): Omit<Task, "id"> {
  return {
    public: { ...info, question, ...(scorer === undefined ? {} : { scorer }), ...(answer_schema === undefined ? {} : { answer_schema }) },
    private: sealed({ answer, steps, compare: "value" }),
  };
}
