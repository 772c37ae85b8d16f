import { type Score, score } from "@mrlm/spec";
import type { CodeOptions } from "../options.ts";
import type { Outcome } from "../problem/outcome.ts";

/**
 * The reward of an attempt: the sum of its components, each times its weight. `tests` is the share of the hidden tests that passed, as visible
 * ones can be written down without being understood; where none is hidden, the share of all.
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

/** Whether every test that counts passed. */
export function hasPassed({ tests }: Pick<Outcome, "tests">): boolean {
  return tests.every(({ passed, counted }) => passed || !counted);
}
