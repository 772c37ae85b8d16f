import { dataFile, difficultyRange, familyMixture, refuseBesideData, sandboxLimits } from "@mrlm/kit/options";
import { z } from "zod";
import { FAMILY_NAMES } from "./generator/families/index.ts";
import { LANGUAGES } from "./problem/problem.ts";

/** Options that only concern generated problems. */
const GENERATOR_OPTIONS = [
  "families",
  "difficulty_range",
  "eval_difficulty_range",
  "tests",
  "train_size",
  "eval_size",
] as const;

/** Options of `code@2` as a user writes them. */
const givenOptions = z.strictObject({
  language: z.enum(LANGUAGES).default("python").describe("What solutions are written in"),
  families: familyMixture(FAMILY_NAMES)
    .optional()
    .describe(
      "Kinds of generated problems, mixed evenly, or a weight for each: {strings: 3, lists: 1}; all by default",
    ),
  difficulty_range: difficultyRange.optional().describe("One difficulty or [lowest, highest], 1 to 10; default [1, 5]"),
  eval_difficulty_range: difficultyRange.optional().describe("That of the eval split, where it differs"),
  tests: z.int().min(4).max(50).optional().describe("Tests of a generated problem, three of them visible; default 13"),
  style: z.enum(["prose", "terse"]).default("prose").describe("terse: as few characters as can be, for small models"),
  attempts: z.int().min(1).max(10).default(3).describe("Programs allowed for one problem"),
  visible_tests: z
    .union([z.literal("examples"), z.number().min(0).max(1)])
    .default("examples")
    .describe("Tests that feedback may name: those that the problem shows as examples, or this share of its tests"),
  limits: sandboxLimits
    .prefault({})
    .describe(
      "Of one attempt, where they differ from the sandbox's own; wall_ms is of each test where a program reads standard input",
    ),
  rewards: z
    .strictObject({
      all_passed: z.number().default(0.5).describe("For passing every test"),
      tests: z
        .number()
        .default(0.5)
        .describe("Times the share of the hidden tests that pass (of all tests where none is hidden)"),
      syntax: z.number().default(0).describe("For code that can be parsed, right or wrong"),
      error: z.number().max(0).default(0).describe("For code that raises, runs into a limit, or cannot be parsed"),
    })
    .refine(
      (weights) => Object.values(weights).some((weight) => weight !== 0),
      "at least one weight must differ from 0",
    )
    .prefault({}),
  data: dataFile
    .extend({
      format: z.enum(["auto", "humaneval", "stdio"]).default("auto").describe("auto: by the fields of the first row"),
    })
    .optional()
    .describe("Problems from a file instead of the generators"),
  train_size: z.int().min(1).max(100_000_000).optional().describe("Generated tasks to train on; default 100,000"),
  eval_size: z.int().min(1).max(10_000_000).optional().describe("Generated tasks to evaluate on; default 1,000"),
  test_seed: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Of hidden tests that draw random numbers; keep it from the policy. By default one is drawn for each user of a machine; servers on several machines need the same",
    ),
  task_seed: z.int().default(0).describe("Another seed gives other problems, and another division of a file"),
});

/** Schema that refuses options without effect. */
export const codeOptions: z.ZodType<CodeOptions> = refuseBesideData(givenOptions, GENERATOR_OPTIONS);

/** Parsed options of `code@2`. */
export type CodeOptions = z.output<typeof givenOptions>;
