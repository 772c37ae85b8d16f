import type { RandomStream } from "@mrlm/spec";

/** A situation with its numbers. */
export interface Story {
  /** What happens, one sentence each, in this order. */
  readonly sentences: readonly string[];
  readonly question: string;
  /** The computation, exactly: whole numbers, + - * / and parentheses. */
  readonly expression: string;
  readonly answer: string;
  readonly steps: readonly string[];
  /** True but of no use: each holds a number that the computation does not need. */
  readonly distractors: readonly string[];
}

/** Invents a story; `size` grows with difficulty from 3 to 30. */
export type Template = (random: RandomStream, size: number) => Story;

/** Somebody. */
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
