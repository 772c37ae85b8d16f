import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { type Aggregation, aggregationNames, normalizerOf, tokenWeight } from "../src/aggregation.ts";
import { LossMetrics } from "../src/loss-metrics.ts";
import { policyLossNames } from "../src/losses/index.ts";
import type { GroupSample } from "../src/samples.ts";
import { unitLoss } from "../src/unit-loss.ts";
import { groupSample, options, sample } from "./support/groups.ts";

const weightsOf = (groups: GroupSample[], aggregation: Aggregation, maxTokens = 10): number[][] =>
  groups.flatMap(({ episodes }) =>
    episodes.map((episode) =>
      Array.from(
        episode.sampled,
        () => tokenWeight(episode, aggregation) / normalizerOf(groups, aggregation, maxTokens),
      ),
    ),
  );

describe("aggregation", () => {
  // Two episodes of 1 and 3 tokens with the same advantage, max_tokens 10.
  const groups = [groupSample(sample(1, [[0, 1]]), sample(1, [[0, 1, 1, 1]]))];
  test.each<[Aggregation, number, number]>([
    ["token_mean", 1 / 4, 1 / 4],
    ["sequence_mean", 1 / 2, 1 / 6],
    ["constant", 1 / 20, 1 / 20],
  ])("numerics 4, 5: closed form of %s on episodes of 1 and 3 tokens", (aggregation, short, long) => {
    expect(weightsOf(groups, aggregation)).toEqual([[short], [long, long, long]]);
  });

  test("numerics 3: the sum over groups is that of the whole batch, not a mean of means", () => {
    const [one, other] = [groupSample(sample(1, [[0, 1]])), groupSample(sample(1, [[0, 1, 1, 1]]))];
    for (const aggregation of aggregationNames) {
      const together = weightsOf([groupSample(...one.episodes, ...other.episodes)], aggregation);
      expect(weightsOf([one, other], aggregation)).toEqual(together);
    }
  });

  test("numerics 2: episodes that were left out are in no denominator", () => {
    for (const aggregation of aggregationNames) expect(normalizerOf([groupSample()], aggregation, 10)).toBe(0);
  });

  test.each(policyLossNames)(
    "numerics 6: splitting an episode into rows leaves the loss of %s and its gradient unchanged",
    (policy_loss) => {
      const logprob = fc.float({ min: -3, max: Math.fround(-0.1), noNaN: true });
      const tokens = fc.array(fc.tuple(logprob, logprob), { minLength: 2, maxLength: 7 });
      fc.assert(
        fc.property(
          tokens,
          fc.double({ min: -2, max: 2, noNaN: true }),
          fc.nat(),
          fc.constantFrom(...aggregationNames),
          (all, advantage, cut, aggregation) => {
            const [now, old] = [all.map(([value]) => value), all.map(([, value]) => value)];
            const at = 1 + (cut % (all.length - 1));
            const ones = (count: number): number[] => [0, ...Array<number>(count).fill(1)];
            const evaluate = (masks: number[][]) => {
              const groups = [groupSample(sample(advantage, masks, old))];
              const metrics = new LossMetrics();
              const { logprob: gradient } = unitLoss(
                groups[0] as GroupSample,
                { old: Float32Array.from(old) },
                { logprob: Float32Array.from(now) },
                options({ policy_loss, aggregation }),
                metrics,
                false,
              );
              return { gradient, metrics: metrics.report(1), normalizer: normalizerOf(groups, aggregation, 10) };
            };
            expect(evaluate([ones(at), ones(all.length - at)])).toEqual(evaluate([ones(all.length)]));
          },
        ),
      );
    },
  );
});
