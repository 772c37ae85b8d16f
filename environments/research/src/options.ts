import { answerPlace } from "@mrlm/kit";
import { dataFile, refuseBesideData } from "@mrlm/kit/options";
import { z } from "zod";

const id = z.string().regex(/^[a-z][a-z0-9-]*(@\d+)?$/, "must be the id of a plugin's service, such as web@1");

/** Ways to keep a conversation short. Each starts it over. */
export const CONTEXTS = ["keep", "drop_results", "summary"] as const;

/** Options as a user writes them. */
const givenOptions = z.strictObject({
  toolset: id.default("web@1").describe("Toolset of the browsers"),
  browsers: z.int().min(1).max(64).default(4).describe("Browsers that `main` may start in an episode"),
  main_turns: z.int().min(2).max(100).default(8).describe("Turns of `main`, with that of the answer"),
  browser_turns: z.int().min(1).max(100).default(5).describe("Turns of each browser, with that of the report"),
  report_characters: z.int().min(1).max(100_000).default(1_000).describe("Longest report of a browser"),
  context: z
    .enum(CONTEXTS)
    .default("keep")
    .describe(
      "Conversation after results: `keep` adds them; `drop_results` starts it over with the calls so far and the last results alone; `summary` asks for a summary and starts it over with that",
    ),
  rewards: z
    .strictObject({
      answer: z.number().default(1).describe("`main`, for a right answer"),
      browser_format: z
        .number()
        .default(0.1)
        .describe("A browser, for one report in its form and no malformed or unknown call"),
      browser_answer: z
        .number()
        .default(0)
        .describe(
          "Each browser at the last step, for a right answer of `main`; `reward_sharing` of a run is another way",
        ),
    })
    .prefault({}),
  hops: z
    .union([z.int().min(1).max(6), z.tuple([z.int().min(1).max(6), z.int().min(1).max(6)])])
    .default([1, 3])
    .transform((given): readonly [number, number] => (typeof given === "number" ? [given, given] : given))
    .refine(([least, most]) => least <= most, "must be [fewest, most]")
    .describe("Pages that a generated question needs: one number or [fewest, most]"),
  pages: z.int().min(8).max(400).default(16).describe("Pages of the corpus of a generated task"),
  style: z.enum(["prose", "terse"]).default("prose").describe("terse: prompts without instructions, for small models"),
  scorer: id.default("math@2").describe("Scorer of the answer"),
  answer_schema: answerPlace
    .default("answer")
    .describe(
      "Where the answer belongs: boxed is \\boxed{...}, gsm8k is #### ..., text is the whole reply, any other name is a tag, such as <answer>...</answer>",
    ),
  data: dataFile.optional().describe("Tasks from a file instead of the generator"),
  train_size: z.int().min(1).max(100_000_000).default(100_000).describe("Generated training tasks"),
  eval_size: z.int().min(1).max(10_000_000).default(1_000).describe("Generated held-out tasks"),
  task_seed: z.int().default(0).describe("Another seed gives other tasks, and another division of a file"),
});

/** Parsed options of `research@2`. */
export type ResearchOptions = z.output<typeof givenOptions>;

/** Schema of the options. Refuses those without effect. */
export const researchOptions: z.ZodType<ResearchOptions> = refuseBesideData(givenOptions, [
  "hops",
  "pages",
  "train_size",
  "eval_size",
]);
