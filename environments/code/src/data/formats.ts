import { invalidRow, type JsonlRow, MrlmError } from "@mrlm/kit";
import { parseRow } from "@mrlm/kit/options";
import type { z } from "zod";
import { fromHumanEval, humanEvalSchema } from "../humaneval/from-row.ts";
import type { Language, ProblemTask } from "../problem/problem.ts";
import { fromStdio, stdioSchema } from "./stdio.ts";

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
