import { invalidRow } from "@mrlm/kit";
import { parseRow, type Place } from "@mrlm/kit/options";
import type { z } from "zod";
import { fromGsm8k, gsm8kSchema } from "./gsm8k.ts";
import { fromMath, mathSchema } from "./math.ts";
import { fromRow, rowSchema } from "./rows.ts";
import type { Row } from "./row.ts";

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
