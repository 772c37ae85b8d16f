import { modelClientOptions } from "@mrlm/model-client";
import { z } from "zod";

/** Criterion of a rubric. */
const criterion = z.strictObject({
  /** Name in the scores: letters, digits and `_`. */
  name: z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,39}$/),
  description: z.string().min(1).max(2000),
  weight: z.number().positive().default(1),
});

const rubric = z
  .array(criterion)
  .min(1)
  .max(20)
  .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, {
    message: "two criteria have the same name",
  });

/** Settings that a request may state too, in `options` of a `JudgeRequest`. */
const judging = {
  /** `pointwise`: scores of each agent by the rubric. `pairwise`: the better one of each pair, in both orders. */
  mode: z.enum(["pointwise", "pairwise"]).default("pairwise"),
  rubric: rubric.default([
    {
      name: "reasoning",
      description: "Claims follow from stated reasons, without contradictions or fallacies.",
      weight: 1,
    },
    {
      name: "evidence",
      description: "Claims are supported by facts or examples that are correct and relevant.",
      weight: 1,
    },
    { name: "responsiveness", description: "The strongest points of the others are answered.", weight: 1 },
  ]),
  /** `by_agent` groups the messages, for answers that were written independently: then the orders differ in which one stands first. */
  turns: z.enum(["chronological", "by_agent"]).default("chronological"),
  /** Text about the conversation and the purpose of the judgement, for the judge. */
  instructions: z.string().max(10_000).default(""),
};

/** Options of the plugin. */
export const llmOptions = z.strictObject({
  endpoint: modelClientOptions,
  ...judging,
  /** Independent judgements of which the median or the majority counts. Use a temperature above 0 with several. */
  votes: z.int().min(1).max(99).default(1),
  temperature: z.number().min(0).max(2).nullable().default(0),
  /** Tokens of one verdict, with the reasoning of the model. */
  max_tokens: z.int().min(16).max(1_000_000).default(2048),
  /** Time of a verdict with its retries and repairs, below the deadline of scoring. A host counts the wait for a place against neither. */
  deadline_ms: z.int().min(1).max(3_600_000).default(25_000),
  /** Characters of a message that are judged. The rest is cut, and the judge reads that it was. */
  max_characters: z.int().min(1).max(10_000_000).default(20_000),
  /** Characters of a conversation that are judged: an equal share for each agent, whose longest messages are cut. */
  max_conversation_characters: z.int().min(1).max(10_000_000).default(100_000),
});

export const requestOptions = z.strictObject({
  mode: judging.mode.unwrap().optional(),
  rubric: rubric.optional(),
  turns: judging.turns.unwrap().optional(),
  instructions: judging.instructions.unwrap().optional(),
});

export type LlmOptions = z.infer<typeof llmOptions>;
export type Criterion = z.infer<typeof criterion>;
