import { answerPlace } from "@mrlm/kit";
import { dataFile, difficultyRange, familyMixture, refuseBesideData, removedKeys } from "@mrlm/kit/options";
import { z } from "zod";
import { FAMILY_NAMES } from "./families/index.ts";

const families = familyMixture(FAMILY_NAMES);

/** Options of `math@2` in a configuration file. */
export const mathOptions = z.strictObject({
  families: families
    .default([...FAMILY_NAMES])
    .describe("Kinds of problems, mixed evenly, or a weight for each: {arithmetic: 3, linear: 1}"),
  difficulty_range: difficultyRange.default([1, 5]).describe("One difficulty or [lowest, highest], 1 to 10"),
  eval_difficulty_range: difficultyRange.optional().describe("That of the eval split, where it differs"),
  curriculum: z
    .array(
      z.strictObject({
        tasks: z.int().min(1),
        difficulty_range: difficultyRange.optional(),
        families: families.optional(),
      }),
    )
    .default([])
    .describe(
      "Stages, each for a number of training tasks, by task index; tasks after the last follow the options above, as does what a stage leaves out",
    ),
  style: z.enum(["prose", "terse"]).default("prose").describe("terse: as few characters as can be, for small models"),
  answer_schema: answerPlace
    .default("answer")
    .describe(
      "Where the answer belongs: boxed is \\boxed{...}, gsm8k is #### ..., text is the whole reply, any other name is a tag, such as <answer>...</answer>",
    ),
  attempts: z.int().min(1).max(10).default(1).describe("Answers allowed for one problem"),
  rewards: z
    .strictObject(
      {
        correct: z.number().default(1).describe("For a right answer"),
        format: z.number().default(0).describe("For an answer in its place, right or wrong"),
        malformed: z.number().max(0).default(0).describe("For no answer in its place"),
        steps: z
          .number()
          .min(0)
          .default(0)
          .describe("Times the share of intermediate results that the reply shows in order"),
      },
      removedKeys({
        undecided:
          "it was removed: an answer that cannot be read or decided is wrong and earns what a wrong answer earns, so leave it out",
      }),
    )
    .prefault({}),
  data: dataFile
    .extend({
      format: z
        .enum(["auto", "gsm8k", "math", "rows"])
        .default("auto")
        .describe("auto: by the fields of the first row"),
    })
    .optional()
    .describe("Problems from a file instead of the generators"),
  train_size: z.int().min(1).max(100_000_000).default(100_000).describe("Generated training problems"),
  eval_size: z.int().min(1).max(10_000_000).default(1_000).describe("Generated held-out problems"),
  task_seed: z.int().default(0).describe("Another seed gives other problems, and another division of a file"),
});

/** Options without effect on problems from a file. */
const GENERATORS = ["families", "difficulty_range", "eval_difficulty_range", "curriculum", "train_size", "eval_size"];

/** Schema that refuses options without effect: those of the generators in combination with `data`. */
export const effectiveOptions: z.ZodType<MathOptions> = refuseBesideData(mathOptions, GENERATORS);

/** Parsed options of `math@2`. */
export type MathOptions = z.output<typeof mathOptions>;
