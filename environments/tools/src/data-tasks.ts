import {
  answerPlace,
  defined,
  divide,
  type EnvironmentContext,
  invalidRow,
  isObject,
  listedTasks,
  readJsonl,
  type Task,
  type TaskSource,
} from "@mrlm/kit";
import { parseRow, type Place } from "@mrlm/kit/options";
import { z } from "zod";
import { baseName, type ToolsOptions } from "./options.ts";
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

const tool = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must be the name of a tool");

/** Row of a file with tasks. `query` is another name of `question`. */
const rowSchema = z.object({
  id: z.union([z.string(), z.number()], "must be a text or a number").optional(),
  question: z.string().min(1),
  answer: z.union([z.string().min(1), z.number().transform(String)], "must be a text or a number"),
  required_tools: z
    .array(z.union([tool, z.array(tool).min(1)], "must be the name of a tool, or a list of names"))
    // One call must not count for two required tools.
    .refine((tools) => new Set(tools.flat()).size === tools.flat().length, "names a tool twice")
    .optional(),
  files: z.record(z.string().min(1), z.string()).optional(),
  scorer: z.string().min(1).optional(),
  answer_schema: answerPlace.optional(),
});

/** Task of a file. */
type Row = z.output<typeof rowSchema>;

/** Reads a row. Throws DATA_INVALID for one of another form. */
function readRow(value: unknown, place: Place): Row {
  if (!isObject(value))
    throw invalidRow(place, "the row is no object", "A row is { question, answer, required_tools?, files?, scorer? }.");
  const { query, ...fields } = value as Record<string, unknown>;
  if (query !== undefined && fields["question"] !== undefined)
    throw invalidRow(place, "the row has both `question` and `query`", "They are two names of one field.");
  return parseRow(rowSchema, query === undefined ? fields : { ...fields, question: query }, place);
}
