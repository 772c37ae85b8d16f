import type { z } from "zod";
import { invalidRow, type Place } from "./invalid-row.ts";

/** Reads a row by a schema. Throws DATA_INVALID, which names the first field that has another form. */
export function parseRow<T>(schema: z.ZodType<T>, value: unknown, place: Place): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidRow(place, `${issue?.path.join(".") || "the row"}: ${issue?.message ?? "not of the expected form"}`);
}
