import { z } from "zod";
import { CONDITIONS } from "./conditions.ts";

/** Options of `consultation@1`. */
export const consultationOptions = z.strictObject({
  questions: z.int().min(1).max(20).default(4).describe("Questions of the doctor before the diagnosis"),
  conditions: z
    .int()
    .min(2)
    .max(CONDITIONS.length)
    .default(CONDITIONS.length)
    .describe("Number of conditions that the cases have: the first ones of the list"),
  style: z
    .enum(["words", "terse"])
    .default("words")
    .describe("Words, or codes for small models: a letter for a finding, a number for a condition, y and n"),
  judge: z
    .string()
    .regex(/^(judge:)?[a-z][a-z0-9-]*(@\d+)?$/, "must be the id of a judge, such as consultation@1 or llm@2")
    .transform((id) => id.replace(/^judge:/, ""))
    .default("consultation@1")
    .describe("Judge of the consultations, for example consultation@1 (by rules) or llm@2"),
  judge_options: z
    .record(z.string(), z.json())
    .optional()
    .describe("Further options of each request to the judge, in its own terms, for example a rubric"),
  task_seed: z.int().default(0).describe("Another seed gives other cases, and another division into splits"),
});

export type ConsultationOptions = z.output<typeof consultationOptions>;
