import { dataFile, refuseBesideData } from "@mrlm/kit/options";
import { z } from "zod";

/** Options of `debate@1`. */
const givenOptions = z.strictObject({
  turns: z.int().min(1).max(50).default(6).describe("Turns of each side"),
  order: z
    .enum(["alternating", "simultaneous"])
    .default("alternating")
    .describe("simultaneous: neither side receives a round before both have written theirs"),
  rewards: z
    .strictObject({
      kind: z
        .enum(["zero_sum", "individual", "cooperative"])
        .default("zero_sum")
        .describe("zero_sum: own score less the other's; individual: own score; cooperative: mean of both"),
      when: z
        .enum(["end", "step"])
        .default("end")
        .describe(
          "step: after each turn, or simultaneous round, the change of the reward; the judge is then called each time",
        ),
    })
    .prefault({}),
  judge: z
    .string()
    .regex(/^(judge:)?[a-z][a-z0-9-]*(@\d+)?$/, "must be the id of a judge, such as rules@1 or llm@2")
    .transform((id) => id.replace(/^judge:/, ""))
    .default("rules@1")
    .describe("Judge of the debates, for example rules@1 or llm@2"),
  judge_options: z
    .record(z.string(), z.json())
    .optional()
    .describe("Options of each request to the judge, in its own terms"),
  max_characters: z
    .int()
    .min(20)
    .max(100_000)
    .default(2_000)
    .describe("Longest argument; what is longer is cut, for the other side and for the judge"),
  data: dataFile.optional().describe("Propositions from a file instead of the built-in ones"),
  eval_share: z
    .number()
    .min(0.05)
    .max(0.5)
    .default(0.2)
    .describe("Share of the built-in propositions that is never trained on"),
  task_seed: z.int().default(0).describe("Another seed gives another division into training and evaluation"),
});

/** Parsed options of `debate@1`. */
export type DebateOptions = z.output<typeof givenOptions>;

/** Schema of the options. Refuses those without effect on a file. */
export const debateOptions: z.ZodType<DebateOptions> = refuseBesideData(givenOptions, ["eval_share"]);
