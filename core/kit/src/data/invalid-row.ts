import { MrlmError } from "@mrlm/spec";
import type { z } from "zod";

/** Place of a row in messages: `problems.jsonl:12`. */
export type Place = `${string}:${number}`;

/** Returns DATA_INVALID for a row. The message does not quote the row, which may contain answers. */
export function invalidRow(place: Place, what: string, hint?: string): MrlmError {
  return new MrlmError("DATA_INVALID", `${place}: ${what}.`, hint === undefined ? {} : { hint });
}

/** Reads a row by a schema. Throws DATA_INVALID, which names the first field that has another form. */
export function parseRow<T>(schema: z.ZodType<T>, value: unknown, place: Place): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalidRow(place, `${issue?.path.join(".") || "the row"}: ${issue?.message ?? "not of the expected form"}`);
}
