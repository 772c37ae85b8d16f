import { answerPlace, invalidRow, isObject } from "@mrlm/kit";
import { parseRow, type Place } from "@mrlm/kit/options";
import { z } from "zod";

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
export type Row = z.output<typeof rowSchema>;

/** Reads a row. Throws DATA_INVALID for one of another form. */
export function readRow(value: unknown, place: Place): Row {
  if (!isObject(value))
    throw invalidRow(place, "the row is no object", "A row is { question, answer, required_tools?, files?, scorer? }.");
  const { query, ...fields } = value as Record<string, unknown>;
  if (query !== undefined && fields["question"] !== undefined)
    throw invalidRow(place, "the row has both `question` and `query`", "They are two names of one field.");
  return parseRow(rowSchema, query === undefined ? fields : { ...fields, question: query }, place);
}
