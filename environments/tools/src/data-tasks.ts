import {
  defined,
  divide,
  type EnvironmentContext,
  invalidRow,
  listedTasks,
  readJsonl,
  type Task,
  type TaskSource,
} from "@mrlm/kit";
import { baseName, type ToolsOptions } from "./options.ts";
import { readRow, type Row } from "./row.ts";
import { jsonOf } from "./task.ts";

/**
 * Returns the tasks of a file. All rows are checked before the first task is used.
 * @throws DATA_INVALID, with file and line, for a row of another form, or one whose scorer `scorers` does not list
 */
export async function dataTasks(
  context: EnvironmentContext,
  { path, eval_share }: NonNullable<ToolsOptions["data"]>,
  { scorers, task_seed }: Pick<ToolsOptions, "scorers" | "task_seed">,
): Promise<TaskSource> {
  const rows = (await readJsonl(context.dataPath(path), "data.path")).map(({ value, place }): Row => {
    const row = readRow(value, place);
    if (row.scorer !== undefined && scorerOf(row.scorer, scorers) === undefined)
      throw invalidRow(
        place,
        `the row names the scorer ${JSON.stringify(row.scorer)}, which the option \`scorers\` does not list`,
        `Rows may name ${scorers.join(", ")}. Add the scorer to \`scorers\` if a plugin provides it.`,
      );
    return row;
  });
  const { train, eval: held } = divide(rows, eval_share, task_seed);
  return listedTasks({ train, eval: held }, (row) => taskOf(row, scorers));
}

function taskOf(
  { id, question, answer, required_tools, files, scorer, answer_schema }: Row,
  scorers: readonly string[],
): Omit<Task, "id"> {
  return {
    public: {
      ...defined({ id }),
      ...jsonOf({
        question,
        ...defined({ required_tools }),
        ...(scorer === undefined ? {} : { scorer: scorerOf(scorer, scorers) as string }),
        ...defined({ answer_schema }),
      }),
    },
    private: jsonOf({ answer, ...defined({ files }) }),
  };
}

/** Returns the listed scorer that a row names, with or without its version. */
function scorerOf(name: string, scorers: readonly string[]): string | undefined {
  return scorers.find((scorer) => scorer === name || baseName(scorer) === name);
}
