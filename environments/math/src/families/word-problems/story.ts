import type { RandomStream } from "@mrlm/kit";

/** Story of a word problem with its numbers. */
export interface Story {
  /** Sentences of the story, in order. */
  readonly sentences: readonly string[];
  readonly question: string;
  /** Exact computation of the answer: whole numbers, + - * / and parentheses. */
  readonly expression: string;
  readonly answer: string;
  readonly steps: readonly string[];
  /** True sentences without effect on the answer: each has a number that the computation does not use. */
  readonly distractors: readonly string[];
}

/** Draws a story. `size` grows with the difficulty from 3 to 30. */
export type Template = (random: RandomStream, size: number) => Story;

/** Draws the name of a person. */
export function someone(random: RandomStream): string {
  return random.pick([
    "Ada",
    "Ben",
    "Chen",
    "Dina",
    "Emil",
    "Farah",
    "Goran",
    "Hana",
    "Ivan",
    "Jun",
    "Kofi",
    "Lena",
    "Maya",
    "Nils",
    "Omar",
    "Priya",
  ]);
}
