import { describe, expect, test } from "@jest/globals";
import { score, unscored } from "@mrlm/kit";
import { learnableEpisodes, noEpisodeCounts } from "@mrlm/kit/learning";
import type { Trajectory } from "@mrlm/spec";
import { dropMismatched } from "../src/drop-mismatched.ts";
import { episodeTurns } from "../src/episode-turns.ts";
import { RoleAverages } from "../src/role-averages.ts";
import { rewardedGroups, toSamples, turnsInState } from "../src/samples.ts";
import { turnAdvantages } from "../src/turn-advantages.ts";
import { episode, group, options, player, sample, segment, turn } from "./support/groups.ts";

const RULES = { policy: "policy", dropCut: false };
const CONTEXT = { policy: "policy", sampling: { temperature: 1, maxTokens: 8 } };

function turnsOf(trajectory: Trajectory, gamma = 1, penalty = 0) {
  const [learnable] = learnableEpisodes(trajectory, RULES, noEpisodeCounts());
  return episodeTurns(learnable as NonNullable<typeof learnable>, gamma, penalty);
}

const own = (start: number, end: number, reward: number, changes = {}) =>
  turn({ tokens: { segment: 0, start, end }, rewards: { agent: score(reward) }, ...changes });
const other = (reward: number) => turn({ agent: "other", rewards: { agent: score(reward) } });
const toGo = (trajectory: Trajectory, gamma?: number, penalty?: number): number[] =>
  turnsOf(trajectory, gamma, penalty).map((each) => each.toGo);

describe("episodeTurns", () => {
  const three = episode(0, { turns: [own(1, 2, 1), own(3, 4, 2), own(5, 6, 4)] }, [segment([0, 1, 0, 1, 0, 1])]);

  test("returns to go with and without a discount", () => {
    expect(toGo(three)).toEqual([7, 6, 4]);
    expect(toGo(three, 0.5)).toEqual([3, 4, 4]);
    expect(toGo(three, 0)).toEqual([1, 2, 4]);
  });

  test("rewards in turns of others belong to the latest own turn, those before the first one to the first", () => {
    const turns = [other(8), own(1, 2, 1), other(16), other(32), own(3, 4, 2)];
    expect(toGo(episode(0, { turns }, [segment([0, 1, 0, 1])]), 0)).toEqual([57, 2]);
  });

  test("shared rewards are the weighted sum of the agents' rewards", () => {
    const both = (mine: number, yours: number) => turn({ rewards: { agent: score(mine), other: score(yours) } });
    const shared = { ...score(0), weights: { agent: 0.5, other: 2 } };
    const { agent } = episode(0).agents;
    const trajectory = episode(0, { turns: [both(1, 4)], agents: { agent: { ...agent, shared } as never } });
    expect(toGo(trajectory)).toEqual([8.5]);
  });

  test("the length penalty belongs to the longest turn", () => {
    const turns = [own(1, 2, 1), own(3, 6, 1), own(7, 8, 1)];
    const found = toGo(episode(0, { turns }, [segment([0, 1, 0, 1, 1, 1, 0, 1])]), 0, -0.5);
    expect(found).toEqual([1, 0.5, 1]);
  });

  test("a turn without tokens has no advantage: its reward belongs to the turn before it", () => {
    const { tokens: _, ...exhausted } = own(0, 0, 4, { stopReason: "exhausted" });
    expect(toGo(episode(0, { turns: [own(1, 2, 1), exhausted] }, [segment([0, 1])]))).toEqual([5]);
  });

  test("spans count learnt tokens over all segments, and may be empty", () => {
    const nan = segment([0, 1, 1, 0, 1], { logprobs: Float32Array.of(0, -1, Number.NaN, 0, -1) });
    const turns = [own(1, 3, 0), own(4, 5, 0), own(0, 0, 0, { tokens: { segment: 2, start: 1, end: 3 } })];
    const masked = own(0, 0, 0, { tokens: { segment: 1, start: 0, end: 1 } });
    const found = turnsOf(
      episode(0, { turns: [...turns.slice(0, 2), masked, ...turns.slice(2)] }, [
        nan,
        segment([0, 0]),
        segment([0, 1, 1]),
      ]),
    );
    expect(found.map(({ start, end }) => [start, end])).toEqual([
      [0, 1],
      [1, 2],
      [0, 0],
      [2, 4],
    ]);
  });
});

describe("turnAdvantages", () => {
  const turned = (...all: (readonly (number | readonly [number, string])[])[]) =>
    all.map((returns, member) => ({
      member,
      turns: returns.map((each, k) => {
        const [value, state] = typeof each === "number" ? [each, undefined] : each;
        return { toGo: value, state, start: k, end: k + 1 };
      }),
    }));

  test("golden numbers: the same turn of the others; where none has it, their latest turn", () => {
    const episodes = turned([4, 3, 9], [1], [1, 5]);
    expect(turnAdvantages(episodes, false, false).advantages).toEqual([[3, -2, 4], [-1.5], [-1.5, 2]]);
    expect(turnAdvantages(turned([3, 3], [0]), false, true).advantages).toEqual([[1.5, 1.5], [-1.5]]);
  });

  test("golden numbers: the same state, in any turn; a member counts once; else the same turn", () => {
    const episodes = turned(
      [
        [4, "a"],
        [8, "b"],
      ],
      [
        [0, "b"],
        [6, "b"],
      ],
      [[1, "b"]],
      [[5, "c"]],
    );
    const { advantages, inState } = turnAdvantages(episodes, true, false);
    // "b" of the first episode: ((0 + 6) / 2 + 1) / 2. "a" and "c" are of one episode each.
    expect(advantages[0]).toEqual([4 - 2, 8 - 2]);
    expect(advantages[1]).toEqual([0 - 4.5, 6 - 4.5]);
    expect(advantages[3]).toEqual([5 - 5 / 3]);
    expect(inState).toBe(4);
  });

  test("numerics 9: equal returns, and a group of one, give exactly 0", () => {
    expect(turnAdvantages(turned([0.1, 0.1], [0.1, 0.1], [0.1]), false, true).advantages).toEqual([
      [0, 0],
      [0, 0],
      [0],
    ]);
    expect(turnAdvantages(turned([3, 2]), false, true).advantages).toEqual([[0, 0]]);
    expect(turnAdvantages(turned([3, 2], []), false, true).advantages).toEqual([[0, 0], []]);
  });

  test("agents of one member are one, and those of a single member are compared with one another", () => {
    const [first, second, third] = turned([1], [3], [6]);
    const both = [{ ...first, member: "m" }, { ...second, member: "m" }, third] as never;
    expect(turnAdvantages(both, false, false).advantages).toEqual([[-5], [-3], [4]]);
    const alone = [
      { ...first, member: "m" },
      { ...second, member: "m" },
    ] as never;
    expect(turnAdvantages(alone, false, false).advantages).toEqual([[-2], [2]]);
  });
});

describe("samples with credit by turn", () => {
  const two = (first: number, second: number, changes: Partial<Trajectory> = {}, states?: readonly [string, string]) =>
    episode(
      first + second,
      {
        turns: [own(1, 2, first, states && { state: states[0] }), own(3, 5, second, states && { state: states[1] })],
        ...changes,
      },
      [segment([0, 1, 0, 1, 1])],
    );
  const advantagesOf = (groups: Trajectory[][], changes = {}): number[][] => {
    const chosen = options({ credit: "turn", ...changes });
    const { rewarded } = rewardedGroups(
      groups.map((all) => group(...all)),
      chosen,
      1,
      CONTEXT,
    );
    return toSamples(rewarded, chosen, 1, new RoleAverages(0.95)).flatMap(({ episodes }) =>
      episodes.map(({ advantage }) => Array.from(advantage as Float64Array)),
    );
  };

  test("each token has the advantage of its turn", () => {
    expect(advantagesOf([[two(1, 0), two(0, 2)]])).toEqual([
      [-0.5, -1, -1],
      [0.5, 1, 1],
    ]);
  });

  test("a group is compared with itself alone: neither other groups nor other roles, nor failed or unscored members", () => {
    const alone = advantagesOf([[two(1, 0), two(0, 2)]]);
    const failed = two(90, 90, { error: { code: "ENVIRONMENT_FAILED", message: "gone" } });
    const lost = two(90, 90);
    const { agent } = lost.agents;
    const unscoredOne = { ...lost, agents: { agent: { ...agent, total: unscored("JUDGE_FAILED", "down") } as never } };
    const elsewhere = { ...lost, agents: { agent: { ...agent, role: "other", player } as never } };
    const found = advantagesOf([
      [two(1, 0), failed, two(0, 2), unscoredOne, elsewhere],
      [two(50, 70), two(60, 0)],
    ]);
    expect(found.slice(0, 2)).toEqual(alone);
  });

  test("batch_std divides by the deviation over turns", () => {
    const deviation = Math.sqrt((2 * 0.25 + 2 * 1) / 3) + 1e-4;
    expect(advantagesOf([[two(1, 0), two(0, 2)]], { scale: "batch_std" })[1]).toEqual(
      [0.5, 1, 1].map((each) => expect.closeTo(each / deviation, 12)),
    );
  });

  test("a group whose totals are equal has a signal where its turns differ, and none where they do not", () => {
    const signals = (...trajectories: Trajectory[]): unknown =>
      rewardedGroups([group(...trajectories)], options({ credit: "turn" }), 1, CONTEXT).rewarded[0]?.hasSignal;
    expect(signals(two(1, 0), two(0, 1))).toBe(true);
    expect(signals(two(0.1, 0.2), two(0.1, 0.2), two(0.1, 0.2))).toBe(false);
  });

  test("turnsInState counts turns that another member's state is compared with", () => {
    const chosen = options({ credit: "state" });
    const states = (second: string) => two(0, 1, {}, ["start", second]);
    const { rewarded } = rewardedGroups([group(states("x"), states("y"), states("x"))], chosen, 1, CONTEXT);
    expect(turnsInState(rewarded)).toEqual({ sum: 5, count: 6 });
  });

  test("mismatch: drop removes the advantages of the tokens that it removes", () => {
    const episodes = [{ ...sample(0, [[0, 1, 1], [1]]), advantage: Float64Array.of(1, 2, 3) }];
    const frozen = { old: Float32Array.of(-1, -9, -1) };
    const { group: left } = dropMismatched({ episodes }, frozen, { mismatch_cap: 2, mismatch_floor: undefined });
    expect(left.episodes[0]?.advantage).toEqual(Float64Array.of(1, 3));
  });
});
