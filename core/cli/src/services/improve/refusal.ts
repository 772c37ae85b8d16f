import { differenceToShow } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import { count } from "../../console/numbers.ts";
import { type CheatSearch, type ExpectedAnswers, HELD_OUT, type InspectedCases } from "./inspected-cases.ts";

/** Largest variance of the difference of a case, of two models that solve it independently: each solves half of the cases. */
const VARIANCE = 0.5;
/** Fewest held-out cases: these show a gain of 50 points, and fewer no smaller one. */
const FEWEST_HELD = 16;
const FEWEST_CASES = Math.ceil(FEWEST_HELD / HELD_OUT);
/** Least mean reward of the expected answers, from which SFT learns. */
const LEAST_EXPECTED = 0.5;

/** Returns the gain that held-out cases show at 80 % power, from 0 to 1. */
export function gainToShow(held: number): number {
  return differenceToShow(held, VARIANCE);
}

/** Throws CASES_UNFIT for too few cases. */
export function assertEnough({ train, held, distinct }: InspectedCases): void {
  if (distinct >= FEWEST_HELD) return;
  const least = gainToShow(distinct);
  throw new MrlmError(
    "CASES_UNFIT",
    `The file has ${count(train + held, "case")}, ${held} of them held out${distinct === held ? "" : `, with ${count(distinct, "different input")}`}: ${least < 1 ? `they show no gain below ${points(least)}` : "they can show no gain at all"}. Nothing was trained.`,
    {
      hint: `Write ${FEWEST_CASES} different cases or more: a third is held out, and ${FEWEST_HELD} show a gain of ${points(gainToShow(FEWEST_HELD))} at 80 % power.`,
    },
  );
}

/** Throws CASES_UNFIT where a program that solves nothing earns, or a scorer fails on or refuses what the file expects. */
export function assertSound({ findings }: CheatSearch, expected: ExpectedAnswers | undefined): void {
  const [finding] = findings;
  if (finding !== undefined)
    throw new MrlmError(
      "CASES_UNFIT",
      `${finding.message}\nA model would learn that in place of the task. Nothing was trained.`,
      { hint: finding.fix ?? "Correct the scorer." },
    );
  const [unscored] = expected?.unscored ?? [];
  if (expected !== undefined && unscored !== undefined)
    throw new MrlmError(
      "CASES_UNFIT",
      `${count(expected.unscored.length, "expected answer")} of the training cases could not be scored; the first: ${unscored} Nothing was trained.`,
      { hint: "Repair the scorer, or the service that it asks, and run the command again." },
    );
  if (expected !== undefined && expected.reward < LEAST_EXPECTED)
    throw new MrlmError(
      "CASES_UNFIT",
      `The expected answers of the training cases have the mean score ${expected.reward.toFixed(2)} by the scorers of the file: they contradict each other. Nothing was trained.`,
      { hint: "Write the expected answers in the form in which the scorer accepts an answer of the model, a text." },
    );
}

function points(share: number): string {
  return `${Math.round(100 * share)} points`;
}
