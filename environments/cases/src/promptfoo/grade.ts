import { type Reward, score } from "@mrlm/kit";
import { isScore, scorerFailed } from "../case.ts";
import { type Check, compileAssertion, type Context, type Outcome, type Surroundings } from "./assertions.ts";
import type { Assertion } from "./configuration.ts";

/** Assertion, or a set of them, with its part in the score. */
interface Part {
  readonly weight: number;
  readonly metric: string | undefined;
  readonly check: (output: string, context: Context) => Promise<Graded>;
}

/** Outcome with the scores of metrics, each with its weights. */
interface Graded extends Outcome {
  readonly metrics: readonly { readonly name: string; readonly score: number; readonly weight: number }[];
}

/**
 * Compiles the assertions of a test. The score is the weighted mean of theirs; a test passes where all pass, or where the score reaches its threshold. Rejects
 * with DATA_INVALID for an assertion that is not supported.
 */
export async function compileGrade(
  assertions: readonly Assertion[],
  threshold: number | undefined,
  given: Surroundings,
): Promise<(output: string, context: Context) => Promise<Graded>> {
  const parts = await Promise.all(
    assertions.map(async (assertion, i): Promise<Part> => {
      const own = { ...given, place: `${given.place}, assert[${i}]` };
      const { weight = 1, metric } = assertion;
      if ("assert" in assertion)
        return { weight, metric, check: await compileGrade(assertion.assert, assertion.threshold, own) };
      const check: Check = await compileAssertion(assertion, own);
      return {
        ...{ weight, metric },
        check: async (output, context) => {
          const { pass, score: own } = await check(output, context);
          // An assertion without weight is for its metric.
          return { pass: pass || weight === 0, score: own, metrics: [] };
        },
      };
    }),
  );
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  return async (output, context) => {
    const graded = await Promise.all(
      parts.map(async ({ check, ...part }) => ({ ...part, ...(await check(output, context)) })),
    );
    const mean = total > 0 ? graded.reduce((sum, each) => sum + each.score * each.weight, 0) / total : 0;
    return {
      score: mean,
      pass: threshold === undefined ? graded.every(({ pass }) => pass) : mean >= threshold,
      metrics: graded.flatMap(({ metric, score: own, weight, metrics }) => [
        ...(metric === undefined ? [] : [{ name: metric, score: own, weight }]),
        ...metrics.filter(({ name }) => name !== metric).map((each) => ({ ...each, weight: each.weight * weight })),
      ]),
    };
  };
}

/** Returns the reward of an answer: the score of promptfoo, with `solved` (the test passes) and the metrics as components. A score outside 0 to 1 is unscored. */
export function rewardOf({ score: value, pass, metrics }: Graded, place: string): Reward {
  if (!isScore(value))
    return scorerFailed(`${place}: the assertions have the score ${value}, and a score is a number from 0 to 1.`);
  const byName = [...Map.groupBy(metrics, ({ name }) => name)].map(([name, own]) => {
    const total = own.reduce((sum, { weight }) => sum + weight, 0);
    return [name, total > 0 ? own.reduce((sum, each) => sum + each.score * each.weight, 0) / total : 0] as const;
  });
  return score(value, { ...Object.fromEntries(byName), solved: pass ? 1 : 0 });
}
