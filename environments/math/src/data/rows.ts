import { answerPlace } from "@mrlm/kit";
import { z } from "zod";
import type { Row } from "./row.ts";

/** Row that may name its scorer and the place of its answer. */
export const rowSchema = z.object({
  id: z.union([z.string(), z.number()], "must be a text or a number").optional(),
  query: z.string().min(1),
  answer: z.union([z.string().min(1), z.number().transform(String)], "must be a text or a number"),
  scorer: z.string().min(1).optional(),
  answer_schema: answerPlace.optional(),
});

/** Reads a row, which has no worked solution. */
export function fromRow({ id, query, answer, scorer, answer_schema }: z.output<typeof rowSchema>): Row {
  return { question: query, answer, steps: [], scorer, answer_schema, info: id === undefined ? {} : { id } };
}
