import { defined, invalidRow, type JsonlRow, MrlmError } from "@mrlm/kit";
import { parseRow, type Place } from "@mrlm/kit/options";
import { z } from "zod";
import { fromHumanEval, humanEvalSchema } from "../humaneval/from-row.ts";
import type { Language, ProblemTask } from "../problem/problem.ts";

/** Reads a row of one format. Throws DATA_INVALID for a row of another form. */
type ReadRow = (row: JsonlRow) => ProblemTask;

/** Formats of rows by name. */
export type Format = "humaneval" | "stdio";

/** Returns the format of rows: its fields and its reader. */
export function readerOf(format: Format, language: Language): ReadRow {
  if (format === "stdio") return checked(stdioSchema, (row, place) => fromStdio(row, place, language));
  if (language === "python") return checked(humanEvalSchema, fromHumanEval);
  throw new MrlmError(
    "OPTIONS_INVALID",
    `Rows in the fields of HumanEval are Python, and \`language\` is ${language}.`,
    { hint: "Set `language: python`, or use rows with standard input and output." },
  );
}

/** Returns the format whose fields a row has. */
export function recognise({ value, place }: JsonlRow): Format {
  const fields = typeof value === "object" && value !== null ? Object.keys(value) : [];
  if (fields.includes("entry_point") && fields.includes("test")) return "humaneval";
  if (fields.includes("question") && fields.includes("tests")) return "stdio";
  throw invalidRow(
    place,
    "the row has none of the known forms",
    "Known fields: prompt, entry_point and test (HumanEval); question and tests with input and output.",
  );
}

function checked<T>(schema: z.ZodType<T>, read: (row: T, place: JsonlRow["place"]) => ProblemTask): ReadRow {
  return ({ value, place }) => read(parseRow(schema, value, place), place);
}

/** Row whose program reads standard input and writes standard output. */
const stdioSchema = z.object({
  task_id: z.union([z.string(), z.number()], "must be a text or a number").optional(),
  question: z.string().min(1),
  tests: z.array(z.object({ input: z.string(), output: z.string(), visible: z.boolean().default(false) })).min(1),
  solution: z.string().min(1).nullish(),
  language: z.enum(["python", "typescript"]).optional(),
  tolerance: z.number().min(0).default(0),
});

/** Reads a row. `language` is the language of solutions. */
function fromStdio(
  { task_id, question, tests, solution, language, tolerance }: z.output<typeof stdioSchema>,
  place: Place,
  asked: Language,
): ProblemTask {
  if (language !== undefined && language !== asked)
    throw invalidRow(
      place,
      `the row is for ${language}, and solutions are asked in ${asked}`,
      "Set the option `language` to that of the rows, or leave it out of the rows.",
    );
  return {
    public: { question, ...defined({ task_id }) },
    problem: { kind: "program", language: asked, reference: solution ?? null, tests, tolerance },
  };
}
