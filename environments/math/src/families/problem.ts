import type { RandomStream } from "@mrlm/kit";

/** Problem with its answer. */
export interface Problem {
  /** Question in words. */
  readonly prose: string;
  /** Question in few characters, for small models with character tokenizers. */
  readonly terse: string;
  readonly answer: string;
  /** Worked steps that lead to the answer, one line for each. */
  readonly steps: readonly string[];
  /** Comparison with an answer. `value`: equality by the scorer. `digits`: equal characters (leading zeros count). */
  readonly compare: "value" | "digits";
}

/** Family of problems. Difficulty is from 1 (first grade) to 10. */
export interface Family {
  readonly name: string;
  generate(random: RandomStream, difficulty: number): Problem;
}
