import {
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
import type { DebateOptions } from "./options.ts";
import { type Proposition, propositions } from "./propositions.ts";

/** Data that both sides receive. */
export type PublicTask = {
  readonly question: string;
  readonly background: string;
};

/** Points that a good debate makes, for the judge. */
export type PrivateTask = {
  readonly key_points: { readonly pro: string[]; readonly con: string[] };
};

const text = z.string().trim().min(1);
const points = z.array(text).default([]);

/** Row of a file with propositions. `question` is another name of `proposition`. */
const rowSchema = z.object({
  proposition: text,
  background: z.string().trim().default(""),
  key_points: z.object({ pro: points, con: points }).prefault({}),
});

/** Returns the built-in propositions, or those of a file, divided into training and evaluation. All rows are checked before the first task is used. */
export async function debateTasks(
  context: EnvironmentContext,
  { data, eval_share, task_seed }: DebateOptions,
): Promise<TaskSource<PublicTask, PrivateTask>> {
  const rows =
    data === undefined
      ? propositions
      : (await readJsonl(context.dataPath(data.path), "data.path")).map(({ value, place }) => readRow(value, place));
  const { train, eval: held } = divide(rows, data?.eval_share ?? eval_share, task_seed);
  return listedTasks({ train, eval: held }, taskOf);
}

/** Reads a row. Throws DATA_INVALID, with file and line, for one of another form. */
function readRow(value: unknown, place: Place): Proposition {
  if (!isObject(value))
    throw invalidRow(
      place,
      "the row is no object",
      "A row is { proposition, background?, key_points?: { pro, con } }.",
    );
  const { question, ...fields } = value as Record<string, unknown>;
  if (question !== undefined && fields["proposition"] !== undefined)
    throw invalidRow(place, "the row has both `question` and `proposition`", "They are two names of one field.");
  const row = question === undefined ? fields : { ...fields, proposition: question };
  const { proposition, background, key_points: keyPoints } = parseRow(rowSchema, row, place);
  return { question: proposition, background, ...keyPoints };
}

function taskOf({ question, background, pro, con }: Proposition): Omit<Task<PublicTask, PrivateTask>, "id"> {
  return { public: { question, background }, private: { key_points: { pro: [...pro], con: [...con] } } };
}
