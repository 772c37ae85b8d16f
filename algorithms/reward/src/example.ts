import type { EngineUnit } from "@mrlm/kit/learning";

/** Two answers of which one is better, ready for the engine. */
export interface PairExample {
  readonly kind: "pair";
  /** Sequences of the chosen answer and of the rejected one, with one score each. */
  readonly unit: EngineUnit;
  readonly margin: number;
}

/** A conversation of which each turn of the assistant has a label. */
export interface StepsExample {
  readonly kind: "steps";
  /** Sequences with one score for each turn, in the order of the labels. */
  readonly unit: EngineUnit;
  /** Probabilities that the turns are right, in [0, 1]. */
  readonly labels: readonly number[];
}

/** Example of a reward model. All examples of a file have the same kind. */
export type Example = PairExample | StepsExample;

/** Returns the number of terms of an example in the loss: 1 for a pair, one for each step. */
export function termsOf(example: Example): number {
  return example.kind === "pair" ? 1 : example.labels.length;
}
