import { describe, expect, test } from "@jest/globals";
import { score, unscored } from "@mrlm/kit";
import { grpoOptions, type GrpoOptions } from "../src/options.ts";
import { RoleAverages } from "../src/role-averages.ts";
import { rewardedGroups, toSamples } from "../src/samples.ts";
import { asBranchedEpisode, type Branched, branchedPaths, type BranchOptions } from "./support/branched-world.ts";
import { addTo, type Gradient, type Path, pathsOf, tokenScores, valueOf, WORLD } from "./support/enumerated-world.ts";
import { episode, group, options, segment, turn } from "./support/groups.ts";

const CONTEXT = { policy: "policy", sampling: { temperature: 1, maxTokens: 8 } };
const paths = pathsOf(WORLD);
const scores = new Map(paths.map((path) => [path, tokenScores(WORLD, path)]));

type Branches = Branched["branches"];
/** Returns the advantages of the turns of the first of two members. The other one's branches are none of its business. */
type Estimator = (path: Path, branches: Branches, other: Path) => readonly number[];

/** Returns the advantage of each turn by those of its tokens. */
function learnt(path: Path, branches: Branches, other: Path, changes: Partial<GrpoOptions> = {}): number[] {
  const chosen = options({ credit: "branch", ...changes });
  const members = [asBranchedEpisode(WORLD, path, branches), { ...asBranchedEpisode(WORLD, other), member: 1 }];
  const { rewarded } = rewardedGroups([group(...members)], chosen, 1, CONTEXT);
  const [first] = toSamples(rewarded, chosen, 1, new RoleAverages(0.95))[0]?.episodes ?? [];
  const advantage = first?.advantage;
  // The first token of turn k is at k (k + 1) / 2.
  return path.steps.map((_, k) =>
    typeof advantage === "object" ? (advantage[(k * (k + 1)) / 2] as number) : (advantage as number),
  );
}

interface Moments {
  readonly mean: Gradient;
  /** Trace of the covariance. */
  readonly variance: number;
}

/** Returns the moments of the gradient of an episode, over all episodes, other members and branches. */
function momentsOf(estimate: Estimator, of: BranchOptions): Moments {
  const mean: number[] = [];
  let square = 0;
  for (const path of paths)
    for (const { probability, branches } of branchedPaths(WORLD, path, of))
      for (const other of paths) {
        const weight = path.probability * probability * other.probability;
        const gradient: number[] = [];
        for (const [k, advantage] of estimate(path, branches, other).entries())
          addTo(gradient, (scores.get(path) as Gradient[])[(k * (k + 1)) / 2] as Gradient, advantage);
        addTo(mean, gradient, weight);
        square += weight * gradient.reduce((sum, each) => sum + each * each, 0);
      }
  return { mean, variance: square - mean.reduce((sum, each) => sum + each * each, 0) };
}

const distance = (one: Gradient, other: Gradient): number =>
  Math.max(...one.map((each, i) => Math.abs(each - (other[i] as number))));
const toGo = ({ steps }: Path, k: number): number => steps.slice(k).reduce((sum, { reward }) => sum + reward, 0);
const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;
/** Returns of the branches of a turn; a failed one has `failed`. */
const returnsOf = (branches: Branches, k: number, failed: number | undefined = undefined): number[] =>
  (branches[k] ?? []).flatMap(({ rewards }) => {
    const { agent } = rewards;
    return agent === undefined ? (failed ?? []) : agent.scored ? agent.value : [];
  });

describe("credit by branches in a world of 13 episodes of one to three turns", () => {
  const exact = valueOf(WORLD, 1, 1).gradient;

  test.each([
    ["1 branch", { count: 1 }],
    ["2 branches", { count: 2 }],
    ["2 branches from every second turn", { count: 2, every: 2 }],
    ["1 branch, of which 3 of 10 fail", { count: 1, failing: 0.3 }],
    ["2 branches, of which 3 of 10 fail, from every second turn", { count: 2, every: 2, failing: 0.3 }],
  ] as const)("numerics 61: %s: the mean is the exact gradient to 1e-9", (_, of) => {
    expect(distance(momentsOf(learnt, of).mean, exact)).toBeLessThan(1e-9);
  });

  test("numerics 61: the variance falls with branches below that of credit by turn and by episode", () => {
    const variance = (changes: Partial<GrpoOptions>, count = 1, every = 9): number =>
      momentsOf((...given) => learnt(...given, { baseline: "leave_one_out", ...changes }), { count, every }).variance;
    const [whole, turned] = [variance({ credit: "episode" }), variance({ credit: "turn" })];
    const [one, two] = [variance({}, 1, 1), variance({}, 2, 1)];
    const found = { whole, turned, one, two };
    // ADR 0043 (branches) has these figures.
    expect(Object.values(found).map((each) => each.toFixed(2))).toEqual(["1.87", "1.79", "1.59", "1.22"]);
  });

  describe("numerics 61: planted errors are found", () => {
    /** The estimator with other returns of branches, or other targets. */
    const planted =
      (known: (path: Path, branches: Branches, k: number, other: Path) => number[], own = true): Estimator =>
      (path, branches, other) =>
        path.steps.map(({ reward }, k) => {
          const before = k === 0 ? toGo(other, 0) : mean(known(path, branches, k, other));
          if (k + 1 === path.steps.length) return reward - before;
          return reward + mean([...known(path, branches, k + 1, other), ...(own ? [toGo(path, k + 1)] : [])]) - before;
        });
    const right = planted((_, branches, k) => returnsOf(branches, k));

    test("the estimator of these plans is that of grpo", () => {
      for (const path of paths)
        for (const { branches } of branchedPaths(WORLD, path, { count: 2 }))
          for (const [k, each] of right(path, branches, paths[4] as Path).entries())
            expect(each).toBeCloseTo(learnt(path, branches, paths[4] as Path)[k] as number, 12);
    });

    const cases: readonly (readonly [string, Estimator, BranchOptions])[] = [
      [
        "off by one turn: the branches of the state after a turn are its baseline",
        planted((path, branches, k) => returnsOf(branches, Math.min(k + 1, path.steps.length - 1))),
        { count: 1 },
      ],
      [
        "double counting: a branch earns the rewards of the turns that it repeats too",
        planted(
          (path, branches, k) => returnsOf(branches, k).map((each) => each + toGo(path, 0) - toGo(path, k)),
          false,
        ),
        { count: 1 },
      ],
      [
        "branches of another episode: those of its turn of the same number",
        planted((_, __, k, other) => [other.steps.length > k ? toGo(other, k) : 0], false),
        { count: 1 },
      ],
      [
        "missing correction: the baseline of a turn includes the own return",
        (path, branches, other) =>
          right(path, branches, other).map((each, k) =>
            k === 0 ? each : each + mean(returnsOf(branches, k)) - mean([...returnsOf(branches, k), toGo(path, k)]),
          ),
        { count: 1 },
      ],
      ["a failed branch is a zero", planted((_, branches, k) => returnsOf(branches, k, 0)), { count: 1, failing: 0.3 }],
      [
        "turns of a state without a scored branch have no advantage",
        (path, branches, other) =>
          learnt(path, branches, other).map((each, k) => (k > 0 && returnsOf(branches, k).length === 0 ? 0 : each)),
        { count: 1, failing: 0.3 },
      ],
      [
        "branches that earn less than 0 are lost",
        planted((path, branches, k) => {
          const kept = returnsOf(branches, k).filter((each) => each >= 0);
          return kept.length > 0 ? kept : [toGo(path, k)];
        }),
        { count: 1 },
      ],
      [
        "the length of the episode chooses the turn with branches",
        (path, branches, other) =>
          learnt(
            path,
            branches.map((own, k) => (k === path.steps.length - 1 ? own : undefined)),
            other,
          ),
        { count: 1 },
      ],
    ];

    test.each(cases)("%s", (_, estimate, of) => {
      expect(distance(momentsOf(estimate, of).mean, exact)).toBeGreaterThan(0.01);
    });
  });
});

describe("branchAdvantages", () => {
  const own = (agent: string, start: number, changes = {}) =>
    turn({ agent, tokens: { segment: 0, start, end: start + 1 }, ...changes });
  const earning = (rewards: Record<string, number>) => ({
    rewards: Object.fromEntries(Object.entries(rewards).map(([agent, reward]) => [agent, score(reward)])),
    turns: 1,
    tokens: 1,
    repeated: 1,
  });
  const advantagesOf = (...members: ReturnType<typeof episode>[]): number[][] => {
    const chosen = options({ credit: "branch" });
    const { rewarded } = rewardedGroups(
      [group(...members.map((each, member) => ({ ...each, member })))],
      chosen,
      1,
      CONTEXT,
    );
    return (toSamples(rewarded, chosen, 1, new RoleAverages(0.95))[0]?.episodes ?? []).map(({ advantage }) => [
      ...(advantage as Float64Array),
    ]);
  };
  const two = (first: number, second: number, branches?: Branches[number]) =>
    episode(
      first + second,
      {
        turns: [
          own("agent", 1, { rewards: { agent: score(first) } }),
          own("agent", 3, { rewards: { agent: score(second) }, ...(branches && { branches }) }),
        ],
      },
      [segment([0, 1, 0, 1])],
    );

  test("by hand: rewards between states, the value after with the own return, the value before", () => {
    // V_0 = 5, of the other; V_1 = 3 and with the own return (2 + 4 + 9) / 3.
    expect(advantagesOf(two(1, 9, [earning({ agent: 2 }), earning({ agent: 4 })]), two(2, 3))).toEqual([
      [1 + 5 - 5, 9 - 3],
      [5 - 10, 5 - 10],
    ]);
  });

  test("an unscored or failed branch is left out; a state without any joins the segment before", () => {
    const lost = { ...earning({}), rewards: { agent: unscored("SCORER_FAILED", "no scorer") } };
    const failed = { ...earning({}), error: { code: "ENVIRONMENT_FAILED", message: "broken" } };
    expect(advantagesOf(two(1, 9, [lost, earning({ agent: 3 }), failed]), two(2, 3))[0]).toEqual([1 + 6 - 5, 9 - 3]);
    expect(advantagesOf(two(1, 9, [lost, failed]), two(2, 3))[0]).toEqual([5, 5]);
    // An agent that a branch does not name has earned 0.
    expect(advantagesOf(two(1, 9, [earning({})]), two(2, 3))[0]).toEqual([1 + 4.5 - 5, 9]);
  });

  test("an episode without another one learns from its branches alone", () => {
    expect(advantagesOf(two(1, 9, [earning({ agent: 3 })]))).toEqual([[0, 6]]);
  });

  test("equal returns have no signal, also where sums are rounded", () => {
    const same = [earning({ agent: 0.3 - 0.1 }), earning({ agent: 0.2 })];
    expect(advantagesOf(two(0.1, 0.2, same), two(0.1, 0.2, same)).flat()).toEqual([0, 0, 0, 0]);
  });

  test("what was earned before the first turn of an agent is in no advantage", () => {
    const second = (before: number) =>
      episode(
        0,
        {
          turns: [
            turn({ agent: "other", rewards: { agent: score(before) } }),
            own("agent", 1, { branches: [earning({ agent: 2 })], rewards: { agent: score(7) } }),
          ],
        },
        [segment([0, 1])],
      );
    expect(advantagesOf(second(100), second(-3))).toEqual([[5], [5]]);
  });
});

test("options that credit by branches does not have are refused", () => {
  const refused = (changes: object): unknown =>
    grpoOptions.safeParse({ steps: 1, ...changes }).error?.issues.map(({ path }) => path[0]);
  expect(refused({ branches: 2 })).toEqual(["branches"]);
  expect(refused({ credit: "turn", branch_every: 2 })).toEqual(["branch_every"]);
  expect(refused({ credit: "branch", gamma: 0.9, baseline: "leave_one_out" })).toEqual(["baseline", "gamma"]);
  expect(refused({ credit: "branch", on_length: "mask", overlong_buffer: 4 })).toEqual([
    "on_length",
    "overlong_buffer",
  ]);
  expect(refused({ credit: "branch", policy_loss: "gspo" })).toEqual(["credit"]);
  expect(refused({ credit: "branch", scale: "group_std" })).toEqual(["scale"]);
  expect(refused({ credit: "branch", branches: 2, branch_every: 3, scale: "batch_std" })).toBeUndefined();
});
