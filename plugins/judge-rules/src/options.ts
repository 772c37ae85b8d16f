import { z } from "zod";

const weight = z.number().min(0).max(1);

/** Options of the plugin. Weights are shares: they are divided by their sum. */
export const rulesOptions = z.strictObject({
  weights: z
    .strictObject({
      argument: z
        .strictObject({
          length: weight.default(0.2),
          evidence: weight.default(0.25),
          reasoning: weight.default(0.25),
          structure: weight.default(0.15),
          relevance: weight.default(0.15),
        })
        .refine((given) => Object.values(given).some((each) => each > 0), "needs a weight above 0")
        .prefault({}),
      debate: z
        .strictObject({
          arguments: weight.default(0.6),
          consistency: weight.default(0.2),
          coverage: weight.default(0.2),
        })
        .refine((given) => Object.values(given).some((each) => each > 0), "needs a weight above 0")
        .prefault({}),
    })
    .prefault({})
    .describe("Weights of the components of an argument, and of those of the whole debate"),
  length: z
    .tuple([z.int().min(1), z.int().min(1)])
    .refine(([from, to]) => from <= to, "has its smaller number first")
    .default([100, 500])
    .describe("Characters of a good argument: [from, to]"),
  tie: z.number().min(0).max(1).default(0.02).describe("Largest difference of scores that is a tie"),
  phrases: z.string().min(1).optional().describe("A phrase file of another language, relative to the configuration"),
});

/** Parsed options. */
export type RulesOptions = z.output<typeof rulesOptions>;
