import { answerPlace, defined, invalidRow } from "@mrlm/kit";
import { parseRow, type Place } from "@mrlm/kit/options";
import { z } from "zod";
import type { Row } from "./row.ts";

/** Row of GSM8K: the worked solution ends with `#### 18` and has annotations such as `<<9*2=18>>`. */
const gsm8kSchema = z.object({ question: z.string().min(1), answer: z.string() });

/** Reads a row. Steps omit the annotations, which repeat the text around them. */
function fromGsm8k({ question, answer }: z.output<typeof gsm8kSchema>, place: Place): Row {
  const end = answer.lastIndexOf("####");
  const expected = end < 0 ? "" : answer.slice(end + 4).trim();
  if (expected === "") throw invalidRow(place, "the answer has no final line `#### ANSWER`");
  const steps = answer
    .slice(0, end)
    .replaceAll(/<<[^<>]*>>/g, "")
    .split("\n");
  return { question, answer: expected, steps: steps.map((step) => step.trim()).filter(Boolean), info: {} };
}

/** Last `\boxed{...}` or `\fbox{...}` of a LaTeX text. */
interface Box {
  readonly content: string;
  /** The text with the content of the box in its place. */
  readonly unboxed: string;
}

/** Finds the last box; its braces may nest. Returns `undefined` without a box, or for one that is not closed. */
function lastBox(text: string): Box | undefined {
  const opened = [...text.matchAll(/\\(?:boxed|fbox)\s*\{/g)].at(-1);
  if (opened === undefined) return undefined;
  const start = opened.index + opened[0].length;
  let depth = 1;
  let end = start;
  for (; end < text.length && depth > 0; end++) {
    const character = text[end];
    if (character === "\\") end++;
    else if (character === "{") depth++;
    else if (character === "}") depth--;
  }
  if (depth > 0) return undefined;
  const content = text.slice(start, end - 1).trim();
  return { content, unboxed: text.slice(0, opened.index) + content + text.slice(end) };
}

/** Row of MATH (Hendrycks et al., 2021): the worked solution has its answer in `\boxed{}`. */
const mathSchema = z.object({
  problem: z.string().min(1),
  solution: z.string(),
  level: z.string().optional(),
  type: z.string().optional(),
});

/** Reads a row. Steps are the lines of the solution without the box, because the options may ask for another place of the answer. */
function fromMath({ problem, solution, level, type }: z.output<typeof mathSchema>, place: Place): Row {
  const box = lastBox(solution);
  if (box === undefined || box.content === "") throw invalidRow(place, "the solution has no answer in \\boxed{}");
  const steps = box.unboxed.split("\n").map((step) => step.trim());
  return {
    question: problem,
    answer: box.content,
    steps: steps.filter(Boolean),
    info: { ...defined({ level, type }) },
  };
}

/** Row that may name its scorer and the place of its answer. */
const rowSchema = z.object({
  id: z.union([z.string(), z.number()], "must be a text or a number").optional(),
  query: z.string().min(1),
  answer: z.union([z.string().min(1), z.number().transform(String)], "must be a text or a number"),
  scorer: z.string().min(1).optional(),
  answer_schema: answerPlace.optional(),
});

/** Reads a row, which has no worked solution. */
function fromRow({ id, query, answer, scorer, answer_schema }: z.output<typeof rowSchema>): Row {
  return { question: query, answer, steps: [], scorer, answer_schema, info: id === undefined ? {} : { id } };
}

/** Reads a row of one format. Throws DATA_INVALID for a row of another form. */
export type ReadRow = (value: unknown, place: Place) => Row;

/** Formats by name. */
export const FORMATS = {
  gsm8k: format(gsm8kSchema, fromGsm8k),
  math: format(mathSchema, fromMath),
  rows: format(rowSchema, fromRow),
} as const satisfies Record<string, ReadRow>;

/** Returns the format whose fields a row has. */
export function recognise(value: unknown, place: Place): ReadRow {
  const fields = typeof value === "object" && value !== null ? Object.keys(value) : [];
  if (fields.includes("query")) return FORMATS.rows;
  if (fields.includes("problem") && fields.includes("solution")) return FORMATS.math;
  if (fields.includes("question") && fields.includes("answer")) return FORMATS.gsm8k;
  throw invalidRow(
    place,
    "the row has none of the known forms",
    "Known fields: question and answer (GSM8K); problem and solution (MATH); query and answer.",
  );
}

function format<T>(schema: z.ZodType<T>, read: (row: T, place: Place) => Row): ReadRow {
  return (value, place) => read(parseRow(schema, value, place), place);
}
