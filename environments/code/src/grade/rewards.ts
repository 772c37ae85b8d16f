import { type Score, score } from "@mrlm/kit";
import type { CodeOptions } from "../options.ts";
import type { Outcome } from "../problem/outcome.ts";

/**
 * Returns the reward of an attempt: the sum of its components times their weights. `tests` is the share of the hidden tests that passed, because a policy can
 * pass visible ones by a table of results; without hidden tests it is the share of all tests.
 */
export function rewardOf({ ending, tests }: Outcome, weights: CodeOptions["rewards"]): Score {
  const counted = tests.filter((test) => test.counted);
  const hidden = counted.filter(({ visible }) => !visible);
  const paid = hidden.length > 0 ? hidden : counted;
  const components = {
    syntax: Number(ending?.kind !== "nothing" && ending?.kind !== "syntax"),
    tests: paid.filter(({ passed }) => passed).length / paid.length,
    all_passed: Number(hasPassed({ tests })),
    error: Number(ending !== undefined || counted.some(({ raised }) => raised)),
  };
  return score(
    Object.entries(components).reduce(
      (sum, [name, value]) => sum + weights[name as keyof typeof components] * value,
      0,
    ),
    components,
  );
}

/** Returns bounds of the reward of an episode: the sums of the negative and of the positive weights. */
export function rangeOf(weights: CodeOptions["rewards"]): readonly [number, number] {
  const all = Object.values(weights);
  const sum = (bound: (weight: number) => number): number => all.reduce((total, weight) => total + bound(weight), 0);
  return [sum((weight) => Math.min(0, weight)), sum((weight) => Math.max(0, weight))];
}

/** Returns true if all counted tests passed. */
export function hasPassed({ tests }: Pick<Outcome, "tests">): boolean {
  return tests.every(({ passed, counted }) => passed || !counted);
}
