import { defined, invalidRow } from "@mrlm/kit";
import type { Place } from "@mrlm/kit/options";
import { z } from "zod";
import type { Language, ProblemTask } from "../problem/problem.ts";

/** Row whose program reads standard input and writes standard output. */
export const stdioSchema = z.object({
  task_id: z.union([z.string(), z.number()], "must be a text or a number").optional(),
  question: z.string().min(1),
  tests: z.array(z.object({ input: z.string(), output: z.string(), visible: z.boolean().default(false) })).min(1),
  solution: z.string().min(1).nullish(),
  language: z.enum(["python", "typescript"]).optional(),
  tolerance: z.number().min(0).default(0),
});

/** Reads a row. `language` is the language of solutions. */
export function fromStdio(
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
