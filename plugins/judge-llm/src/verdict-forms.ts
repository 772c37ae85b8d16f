import type { JsonOutput } from "@mrlm/model-client";
import { z } from "zod";
import type { Criterion } from "./options.ts";

const MAX_SCORE = 10;
const score = z.number().min(0).max(MAX_SCORE);
// A refinement is no part of the JSON Schema: strict endpoints refuse some keywords.
const reasons = z.string().refine((text) => text.trim() !== "", { message: "the reasons are empty" });

/** Rounding of a mean that a model computes. */
const TOLERANCE = 0.5;

// The reasons stand first in each form: a model then writes them before it decides.
const comparison = z.strictObject({
  reasons,
  scores: z.strictObject({ A: score, B: score }),
  winner: z.enum(["A", "B", "tie"]),
});
export type Comparison = z.infer<typeof comparison>;
export const comparisonForm: JsonOutput<Comparison> = { name: "comparison", schema: comparison };

const reference = z.strictObject({ reasons, score, verdict: z.enum(["equivalent", "different", "undecided"]) });
export type ReferenceVerdict = z.infer<typeof reference>;
export const referenceForm: JsonOutput<ReferenceVerdict> = { name: "verdict", schema: reference };

/** Scores of one participant by criterion. */
export interface Assessment {
  readonly reasons: string;
  readonly scores: Readonly<Record<string, number>>;
  readonly overall: number;
}

export function assessmentForm(rubric: readonly Criterion[]): JsonOutput<Assessment> {
  const scores = z.strictObject(Object.fromEntries(rubric.map(({ name }) => [name, score])));
  return { name: "assessment", schema: z.strictObject({ reasons, scores, overall: score }) };
}

/** Part of the scale, from 0 to 1. */
export const partOfScale = (value: number): number => value / MAX_SCORE;

export function weightedMean(scores: Readonly<Record<string, number>>, rubric: readonly Criterion[]): number {
  const total = rubric.reduce((sum, { weight }) => sum + weight, 0);
  return rubric.reduce((sum, { name, weight }) => sum + weight * (scores[name] as number), 0) / total;
}

// The sentences below go back to the model as instructions: they have numbers and words of the forms only, never text of the model.

export function comparisonFault({ scores: { A, B }, winner }: Comparison): string | undefined {
  const better = A > B ? "A" : B > A ? "B" : "tie";
  return winner === better ? undefined : `The winner is "${winner}", but the scores are A ${A} and B ${B}.`;
}

export function assessmentFault({ scores, overall }: Assessment, rubric: readonly Criterion[]): string | undefined {
  const mean = weightedMean(scores, rubric);
  if (Math.abs(overall - mean) <= TOLERANCE) return undefined;
  return `"overall" is ${overall}, but the weighted mean of the scores is ${Number(mean.toFixed(2))}.`;
}

export function referenceFault({ score: value, verdict }: ReferenceVerdict): string | undefined {
  if (verdict === "undecided" || (verdict === "equivalent") === value >= MAX_SCORE / 2) return undefined;
  return `The verdict is "${verdict}", but the score is ${value}.`;
}
