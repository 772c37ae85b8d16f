import { describe, expect, test } from "@jest/globals";
import { grpoOptions, type GrpoOptions } from "../src/options.ts";
import { policyLosses } from "../src/losses/index.ts";
import { RoleAverages } from "../src/role-averages.ts";
import { rewardedGroups, toSamples } from "../src/samples.ts";
import {
  addTo,
  asEpisode,
  type Gradient,
  groupsOf,
  type Path,
  pathsOf,
  tokenScores,
  valueOf,
  WORLD,
} from "./support/enumerated-world.ts";
import { group, options } from "./support/groups.ts";

const CONTEXT = { policy: "policy", sampling: { temperature: 1, maxTokens: 8 } };
const paths = pathsOf(WORLD);
const episodes = new Map(paths.map((path) => [path, asEpisode(WORLD, path)]));
const scores = new Map(paths.map((path) => [path, tokenScores(WORLD, path)]));

/** Returns the advantages of the tokens of each member of a group. */
type Estimator = (members: readonly Path[]) => readonly ArrayLike<number>[];

const estimator =
  (changes: Partial<GrpoOptions>): Estimator =>
  (members) => {
    const chosen = options(changes);
    const played = group(...members.map((path, member) => ({ ...(episodes.get(path) as object), member }) as never));
    const { rewarded } = rewardedGroups([played], chosen, 1, CONTEXT);
    return (toSamples(rewarded, chosen, 1, new RoleAverages(0.95))[0]?.episodes ?? []).map(({ advantage, sampled }) =>
      typeof advantage === "number" ? new Float64Array(sampled.length).fill(advantage) : advantage,
    );
  };

/** Makes an estimator from advantages of turns. */
const byTurn =
  (advantagesOf: (members: readonly Path[]) => number[][]): Estimator =>
  (members) =>
    advantagesOf(members).map((all) => all.flatMap((advantage, k) => new Array<number>(k + 1).fill(advantage)));

/** Returns the mean, over all groups of n episodes, of the gradient that a step ascends: that of the surrogate, averaged over the episodes. */
function meanGradient(n: number, estimate: Estimator): Gradient {
  const sum: number[] = [];
  const { policy_loss, clip_low, clip_high, minirl_epsilon_high, minirl_cap } = options();
  for (const { probability, members } of groupsOf(paths, n)) {
    for (const [i, advantage] of estimate(members).entries()) {
      const path = members[i] as Path;
      const logprobs = new Float64Array(advantage.length).fill(-1);
      const { gradient } = policyLosses(
        { logprobs, old: logprobs, weights: logprobs.map(() => 1), advantage: Float64Array.from(advantage), age: 0 },
        { policy_loss, clip_low, clip_high, minirl_epsilon_high, minirl_cap },
      );
      for (const [t, each] of (scores.get(path) as Gradient[]).entries())
        addTo(sum, each, (probability * -(gradient[t] as number)) / n);
    }
  }
  return sum;
}

const expectClose = (found: Gradient, expected: Gradient, factor = 1): void => {
  expect(found).toHaveLength(expected.length);
  for (const [i, each] of found.entries()) expect(Math.abs(each - factor * (expected[i] as number))).toBeLessThan(1e-9);
};
const distance = (one: Gradient, other: Gradient): number =>
  Math.max(...one.map((each, i) => Math.abs(each - (other[i] as number))));

const toGo = ({ steps }: Path, k: number): number => steps.slice(k).reduce((sum, { reward }) => sum + reward, 0);
const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;

describe("credit by turn in a world of 13 episodes of one to three turns", () => {
  const exact = valueOf(WORLD, 1, 1).gradient;

  test("the episodes are all episodes, and some come back to a state", () => {
    expect(paths).toHaveLength(13);
    expect(paths.reduce((sum, { probability }) => sum + probability, 0)).toBeCloseTo(1, 12);
    expect(paths.some(({ steps }) => new Set(steps.map(({ state }) => state)).size < steps.length)).toBe(true);
  });

  test.each([
    ["turn", 2],
    ["turn", 3],
    ["state", 2],
    ["state", 3],
  ] as const)(
    "numerics 61: credit: %s, groups of %i: the mean of leave_one_out is the exact gradient to 1e-9, that of group_mean (n - 1)/n of it",
    (credit, n) => {
      expectClose(meanGradient(n, estimator({ credit, baseline: "leave_one_out" })), exact);
      expectClose(meanGradient(n, estimator({ credit, baseline: "group_mean" })), exact, (n - 1) / n);
    },
  );

  test.each([0.7, 0])(
    "numerics 61: with gamma %f the mean is Σ_k E[∇log π R_k] to 1e-9, which is not the gradient of the discounted return",
    (gamma) => {
      const { gradient } = valueOf(WORLD, gamma, 1);
      for (const credit of ["turn", "state"] as const)
        expectClose(meanGradient(2, estimator({ credit, gamma, baseline: "leave_one_out" })), gradient);
      // ADR 0036 (credit by turn) has these figures.
      expect(distance(gradient, valueOf(WORLD, gamma, gamma).gradient)).toBeGreaterThan(0.03);
      expect(distance(gradient, exact)).toBeGreaterThan(0.03);
    },
  );

  test("numerics 61: whole episodes have the same mean with more variance", () => {
    const variance = (changes: Partial<GrpoOptions>): number => {
      const estimate = estimator({ baseline: "leave_one_out", ...changes });
      return groupsOf(paths, 2).reduce((total, { probability, members }) => {
        const sum: number[] = [];
        for (const [i, advantage] of estimate(members).entries())
          for (const [t, each] of (scores.get(members[i] as Path) as Gradient[]).entries())
            addTo(sum, each, (advantage[t] as number) / 2);
        return total + probability * sum.reduce((square, each) => square + each * each, 0);
      }, 0);
    };
    expectClose(meanGradient(2, estimator({ baseline: "leave_one_out" })), exact);
    expect(variance({ credit: "turn" })).toBeLessThan(variance({}));
  });

  describe("numerics 61: planted errors are found", () => {
    const own = estimator({ credit: "turn", baseline: "leave_one_out" });
    const others = (members: readonly Path[], i: number, k: number): Path[] =>
      members.filter(({ steps }, j) => j !== i && steps.length > k);
    /** Rewards centred turn by turn, by the other episodes, and then summed over later turns. */
    const centredRewards = byTurn((members) =>
      members.map(({ steps }, i) =>
        steps.map((_, k) =>
          steps.slice(k).reduce((sum, { reward }, later) => {
            const compared = others(members, i, k + later).map((other) => other.steps[k + later]?.reward as number);
            return sum + reward - (compared.length === 0 ? 0 : mean(compared));
          }, 0),
        ),
      ),
    );
    const planted: readonly (readonly [string, Estimator])[] = [
      [
        "off by one turn",
        byTurn((members) =>
          members.map((path, i) => {
            const tokens = own(members)[i] as ArrayLike<number>;
            // The first token of turn k is at k (k + 1) / 2.
            return path.steps.map((_, k) => tokens[((k + 1) * (k + 2)) / 2] ?? 0);
          }),
        ),
      ],
      [
        "double counting: the total beside the return to go",
        byTurn((members) => members.map((path) => path.steps.map((_, k) => toGo(path, k) + toGo(path, 0)))),
      ],
      [
        "missing correction: the mean of a turn includes the own episode",
        byTurn((members) =>
          members.map((path) =>
            path.steps.map((_, k) => {
              const reached = members.filter(({ steps }) => steps.length > k);
              return 2 * (toGo(path, k) - mean(reached.map((other) => toGo(other, k))));
            }),
          ),
        ),
      ],
      ["missing correction: rewards are centred turn by turn", centredRewards],
      [
        "an episode that no other one is as long as has no advantage there",
        byTurn((members) =>
          members.map((path, i) =>
            path.steps.map((_, k) => {
              const compared = others(members, i, k);
              return compared.length === 0 ? 0 : toGo(path, k) - mean(compared.map((other) => toGo(other, k)));
            }),
          ),
        ),
      ],
      [
        "the baseline of a state includes the own visits",
        byTurn((members) =>
          members.map((path) =>
            path.steps.map(({ state }, k) => {
              const visits = members.flatMap((other) =>
                other.steps.flatMap((step, at) => (step.state === state ? toGo(other, at) : [])),
              );
              return 2 * (toGo(path, k) - mean(visits));
            }),
          ),
        ),
      ],
    ];

    test.each(planted)("%s", (_, estimate) => {
      expect(distance(meanGradient(2, estimate), exact)).toBeGreaterThan(0.02);
    });

    test("baseline of another group: it has no factor (n - 1)/n, and a constant of that group moves advantages", () => {
      const other = byTurn((members) => members.map((path) => path.steps.map((_, k) => toGo(path, k) - 0.5)));
      const halved = exact.map((each) => each / 2);
      expectClose(meanGradient(2, estimator({ credit: "turn", baseline: "group_mean" })), halved);
      expect(distance(meanGradient(2, other), halved)).toBeGreaterThan(0.02);
    });
  });
});

test("options that credit by turn does not have are refused", () => {
  const refused = (changes: object): unknown =>
    grpoOptions.safeParse({ steps: 1, ...changes }).error?.issues.map(({ path }) => path[0]);
  expect(refused({ gamma: 0.9 })).toEqual(["gamma"]);
  expect(refused({ credit: "turn", baseline: "role_average" })).toEqual(["credit"]);
  expect(refused({ credit: "turn", scale: "group_std" })).toEqual(["scale"]);
  expect(refused({ credit: "state", policy_loss: "gspo" })).toEqual(["credit"]);
  expect(refused({ credit: "state", gamma: 0.9, scale: "batch_std" })).toBeUndefined();
});
