import {
  defined,
  divide,
  type EnvironmentContext,
  listedTasks,
  readJsonl,
  type Requirement,
  type Task,
  type TaskSource,
} from "@mrlm/kit";
import type { Place } from "@mrlm/kit/options";
import type { MathOptions } from "../options.ts";
import { sealed } from "../solution.ts";
import { FORMATS, type ReadRow, recognise } from "./formats.ts";
import type { Row } from "./row.ts";

/** Row with its place in the file. */
type PlacedRow = Row & { readonly place: Place };
type Data = NonNullable<MathOptions["data"]>;

/** Returns the problems of a file. All rows are checked before the first task is used. */
export async function dataTasks(context: EnvironmentContext, data: Data, seed: number): Promise<TaskSource> {
  const { train, eval: held } = divide(await readRows(context, data), data.eval_share, seed);
  return listedTasks({ train, eval: held }, taskOf);
}

/** Returns the scorers that rows name, each with the first row that names it. */
export async function scorersOf(context: EnvironmentContext, data: Data): Promise<readonly Requirement[]> {
  const askers = new Map<string, string>();
  for (const { scorer, place } of await readRows(context, data))
    if (scorer !== undefined && !askers.has(scorer)) askers.set(scorer, `the row ${place}`);
  return Array.from(askers, ([scorer, asker]) => ({ id: `scorer:${scorer}`, asker }));
}

/** Reads and checks all rows. Throws DATA_INVALID, with file and line, for the first malformed row. */
async function readRows(context: EnvironmentContext, { path, format }: Data): Promise<PlacedRow[]> {
  let read: ReadRow | undefined = format === "auto" ? undefined : FORMATS[format];
  return (await readJsonl(context.dataPath(path), "data.path")).map(({ value, place }) => {
    read ??= recognise(value, place);
    return { ...read(value, place), place };
  });
}

function taskOf({ question, answer, steps, scorer, answer_schema, info }: PlacedRow): Omit<Task, "id"> {
  return {
    public: {
      ...info,
      question,
      ...defined({ scorer, answer_schema }),
    },
    private: sealed({ answer, steps, compare: "value" }),
  };
}
