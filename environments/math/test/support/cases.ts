import { randomStream } from "@mrlm/kit";
import fc from "fast-check";
import { FAMILIES, type FamilyName } from "../../src/families/index.ts";
import type { Problem } from "../../src/families/problem.ts";

/** A problem to generate. */
export interface Case {
  readonly seed: number;
  readonly difficulty: number;
}

/** Any problem of any difficulty. */
export const cases: fc.Arbitrary<Case> = fc.record({ seed: fc.integer(), difficulty: fc.integer({ min: 1, max: 10 }) });

/** Returns the problem of a case. */
export function problemOf(family: FamilyName, { seed, difficulty }: Case): Problem {
  return FAMILIES[family].generate(randomStream(family, seed), difficulty);
}
