import type { RandomStream } from "@mrlm/spec";

/** One problem with its answer. */
export interface Problem {
  /** In words. */
  readonly prose: string;
  /** The same in as few characters as can be: for small models with character tokenizers. */
  readonly terse: string;
  readonly answer: string;
  /** Worked steps that lead to the answer, one line each. */
  readonly steps: readonly string[];
  /** `value`: equal in value, as the math scorer judges. `digits`: the very same characters (leading zeros count). */
  readonly compare: "value" | "digits";
}

/** Makes problems of one kind. Difficulty runs from 1 (a first-grader's) to 10. */
export interface Family {
  readonly name: string;
  generate(random: RandomStream, difficulty: number): Problem;
}
