import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { branchAdvantages } from "../../algorithms/grpo/src/branch-advantages.ts";
import { episodeTurns } from "../../algorithms/grpo/src/episode-turns.ts";
import { turnAdvantages } from "../../algorithms/grpo/src/turn-advantages.ts";
import { asBranchedEpisode, branchedPaths } from "../../algorithms/grpo/test/support/branched-world.ts";
import {
  addTo,
  asEpisode,
  CHAIN,
  type Path,
  pathsOf,
  scoreFunction,
  valueOf,
  WORLD,
} from "../../algorithms/grpo/test/support/enumerated-world.ts";
import { generalizedAdvantages } from "../../algorithms/ppo/src/gae.ts";
import { learnableEpisodes, noEpisodeCounts } from "@mrlm/kit/learning";

const NO_PENALTY = 0;
const RULES = { policy: "policy", dropCut: false };

/** Returns PPO's advantages of the turns of a path, with the exact values of its states as critic. */
function ppoAdvantages(world: typeof WORLD, { steps }: Path, gamma: number, lambda: number): number[] {
  const values = steps.map(({ state }, k) => valueOf(world, gamma, 1, state, world.turns - k).value);
  const rewards = steps.map(({ reward }) => reward);
  return Array.from(generalizedAdvantages({ rewards, values, finalValue: 0 }, gamma, lambda));
}

const returnsOf = (world: typeof WORLD, path: Path, gamma: number) => {
  const [learnable] = learnableEpisodes(asEpisode(world, path), RULES, noEpisodeCounts());
  return episodeTurns(learnable as NonNullable<typeof learnable>, gamma, NO_PENALTY);
};

test.each([1, 0.6])(
  "numerics 61: where each turn has one state, credit by turn averaged over the other member is PPO's GAE (λ = 1) with exact values: γ = %f",
  (gamma) => {
    const paths = pathsOf(CHAIN);
    for (const path of paths) {
      const expected = ppoAdvantages(CHAIN, path, gamma, 1);
      for (const isByState of [false, true]) {
        const average = expected.map(() => 0);
        for (const other of paths) {
          const pair = [path, other].map((each, member) => ({ member, turns: returnsOf(CHAIN, each, gamma) }));
          addTo(average, turnAdvantages(pair, isByState, false).advantages[0] as number[], other.probability);
        }
        for (const [k, each] of average.entries()) expect(Math.abs(each - (expected[k] as number))).toBeLessThan(1e-9);
      }
    }
  },
);

test.each([
  [1, 1],
  [1, 0.5],
  [0.6, 1],
  [0.6, 0],
])(
  "numerics 61: with exact values PPO's mean gradient is that of credit by turn in episodes of any number of turns: γ = %f, λ = %f",
  (gamma, lambda) => {
    const found: number[] = [];
    for (const path of pathsOf(WORLD))
      for (const [k, advantage] of ppoAdvantages(WORLD, path, gamma, lambda).entries()) {
        const { state, action } = path.steps[k] as Path["steps"][number];
        addTo(found, scoreFunction(WORLD, state, action), path.probability * advantage);
      }
    for (const [i, each] of valueOf(WORLD, gamma, 1).gradient.entries())
      expect(Math.abs((found[i] as number) - each)).toBeLessThan(1e-9);
  },
);

test.each([1, 2])(
  "numerics 61: credit by branches averaged over %i branches and the other member is PPO's GAE with exact values: that of λ = 0, and that of λ = 1 in the part of the own return",
  (count) => {
    const paths = pathsOf(WORLD);
    const turnsOf = (trajectory: ReturnType<typeof asBranchedEpisode>) => {
      const [learnable] = learnableEpisodes(trajectory, RULES, noEpisodeCounts());
      return episodeTurns(learnable as NonNullable<typeof learnable>, 1, NO_PENALTY);
    };
    for (const path of paths) {
      const [step, whole] = [ppoAdvantages(WORLD, path, 1, 0), ppoAdvantages(WORLD, path, 1, 1)];
      const average = step.map(() => 0);
      for (const { probability, branches } of branchedPaths(WORLD, path, { count }))
        for (const other of paths) {
          const pair = [asBranchedEpisode(WORLD, path, branches), asBranchedEpisode(WORLD, other)];
          const members = pair.map((each, member) => ({ member, turns: turnsOf(each) }));
          addTo(average, branchAdvantages(members)[0] as number[], probability * other.probability);
        }
      for (const [k, each] of average.entries()) {
        const own = 1 / (count + 1);
        const expected = (1 - own) * (step[k] as number) + own * (whole[k] as number);
        expect(Math.abs(each - expected)).toBeLessThan(1e-9);
      }
    }
  },
);

test("numerics 61: with one reward, at the end, and no discount, credit by turn is credit by episode where all episodes have as many turns", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 2, maxLength: 6 }),
      fc.integer({ min: 1, max: 4 }),
      (rewards, turns) => {
        const group = rewards.map((reward, member) => ({
          member,
          turns: Array.from({ length: turns }, (_, k) => ({ toGo: reward, state: undefined, start: k, end: k + 1 })),
        }));
        const mean = rewards.reduce((sum, each) => sum + each, 0) / rewards.length;
        for (const [i, advantages] of turnAdvantages(group, false, true).advantages.entries())
          for (const advantage of advantages) expect(advantage).toBeCloseTo((rewards[i] as number) - mean, 9);
      },
    ),
  );
});
