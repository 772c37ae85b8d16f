import { divide, listedTasks } from "@mrlm/kit";
import type { EnvironmentContext, Requirement, Task, TaskSource } from "@mrlm/spec";
import type { MathOptions } from "../options.ts";
import { sealed } from "../solution.ts";
import { type PlacedRow, readRows } from "./read-rows.ts";

type Data = NonNullable<MathOptions["data"]>;

/** Returns the problems of a file. All rows are checked before the first task is used. */
export async function dataTasks(context: EnvironmentContext, data: Data, seed: number): Promise<TaskSource> {
  const { train, eval: held } = divide(await readFrom(context, data), data.eval_share, seed);
  return listedTasks({ train, eval: held }, taskOf);
}

/** Returns the scorers that rows name, each with the first row that names it. */
export async function scorersOf(context: EnvironmentContext, data: Data): Promise<readonly Requirement[]> {
  const askers = new Map<string, string>();
  for (const { scorer, place } of await readFrom(context, data))
    if (scorer !== undefined && !askers.has(scorer)) askers.set(scorer, `the row ${place}`);
  return Array.from(askers, ([scorer, asker]) => ({ id: `scorer:${scorer}`, asker }));
}

function readFrom(context: EnvironmentContext, data: Data): Promise<PlacedRow[]> {
  return readRows({ ...data, path: context.dataPath(data.path) });
}

function taskOf({ question, answer, steps, scorer, answer_schema, info }: PlacedRow): Omit<Task, "id"> {
  return {
    public: {
      ...info,
      question,
      ...(scorer === undefined ? {} : { scorer }),
      ...(answer_schema === undefined ? {} : { answer_schema }),
    },
    private: sealed({ answer, steps, compare: "value" }),
  };
}
