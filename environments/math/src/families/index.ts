import { arithmetic } from "./arithmetic.ts";
import { inequalities } from "./inequalities.ts";
import { linear } from "./linear.ts";
import { multiStep } from "./multi-step.ts";
import { numberTheory } from "./number-theory/number-theory.ts";
import { ordering } from "./ordering.ts";
import type { Family } from "./problem.ts";
import { quadratics } from "./quadratics.ts";
import { systems } from "./systems.ts";
import { wordProblems } from "./word-problems/word-problems.ts";

/** Names of the families in options. */
export const FAMILY_NAMES = [
  "arithmetic",
  "ordering",
  "linear",
  "systems",
  "quadratics",
  "inequalities",
  "number_theory",
  "word_problems",
  "multi_step",
] as const;
export type FamilyName = (typeof FAMILY_NAMES)[number];

/** Families by name. */
export const FAMILIES: Readonly<Record<FamilyName, Family>> = {
  arithmetic,
  ordering,
  linear,
  systems,
  quadratics,
  inequalities,
  number_theory: numberTheory,
  word_problems: wordProblems,
  multi_step: multiStep,
};
