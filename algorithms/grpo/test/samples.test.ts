import { describe, expect, test } from "@jest/globals";
import { score, unscored } from "@mrlm/kit";
import type { TrajectoryGroup } from "@mrlm/kit/learning";
import fc from "fast-check";
import type { GrpoOptions } from "../src/options.ts";
import { RoleAverages } from "../src/role-averages.ts";
import { rewardedGroups, toSamples as samplesOf } from "../src/samples.ts";
import { episode, group, options, player, segment, turn } from "./support/groups.ts";

/** Selects the learnable episodes and computes their advantages. */
function toSamples(groups: readonly TrajectoryGroup[], chosen: GrpoOptions, version: number, maxTokens: number) {
  const { rewarded, counts } = rewardedGroups(groups, chosen, version, {
    policy: "policy",
    sampling: { temperature: 1, maxTokens },
  });
  return { rewarded, counts, samples: samplesOf(rewarded, chosen, version, new RoleAverages(0.95)) };
}

const advantagesOf = (...parameters: Parameters<typeof toSamples>): number[][] =>
  toSamples(...parameters).samples.map(({ episodes }) => episodes.map(({ advantage }) => advantage as number));
const failed = episode(5, { error: { code: "ENVIRONMENT_FAILED", message: "gone" } });
const agent = (total: Parameters<typeof score>[0], changes = {}) => ({
  role: "agent",
  player,
  segments: [segment([0, 1])],
  total: score(total),
  end: { terminated: true, truncated: false },
  ...changes,
});
const notScored = episode(0, { agents: { agent: { ...agent(0), total: unscored("JUDGE_FAILED", "down") } } });
const none = { failed: 0, unscored: 0, stale: 0, cut: 0, nonFiniteTokens: 0 };

describe("several agents of a role", () => {
  const part = (role: string, total: number, changes = {}) => ({ ...agent(total), role, ...changes });
  const members = [
    episode(0, {
      agents: { main: part("main", 1), "browser#1": part("browser", 0.5), "browser#2": part("browser", 0) },
    }),
    episode(0, { agents: { main: part("main", 0), "browser#1": part("browser", 1) } }),
  ];

  test("all browsers of a group have one baseline, and the mains another", () => {
    // Browsers: an episode counts once, mean ((0.5 + 0) / 2 + 1) / 2 = 0.625. Mains: mean 0.5.
    expect(advantagesOf([group(...members)], options(), 1, 8)).toEqual([[0.5, -0.5, -0.125, -0.625, 0.375]]);
    // Leave one out: 0.5 - 1, 0 - 1, 1 - (0.5 + 0)/2; mains: 1 - 0, 0 - 1.
    expect(advantagesOf([group(...members)], options({ baseline: "leave_one_out" }), 1, 8)).toEqual([
      [1, -1, -0.5, -1, 0.75],
    ]);
    // Deviations with n - 1: browsers 0.5, mains the root of 0.5.
    const [scaled] = advantagesOf([group(...members)], options({ scale: "group_std" }), 1, 8);
    const main = 0.5 / (Math.SQRT1_2 + 1e-4);
    [main, -main, -0.125 / 0.5001, -0.625 / 0.5001, 0.375 / 0.5001].forEach((expected, i) =>
      expect(scaled?.[i]).toBeCloseTo(expected, 12),
    );
  });

  test("browsers of another group do not count, and an unscored one leaves the rest", () => {
    const broken = { ...part("browser", 9), total: unscored("JUDGE_FAILED", "down") };
    const alone = episode(0, { agents: { "browser#1": part("browser", 4), "browser#2": broken } });
    const { counts } = toSamples([group(...members), group(alone)], options(), 1, 8);
    expect(advantagesOf([group(...members), group(alone)], options(), 1, 8)).toEqual([
      [0.5, -0.5, -0.125, -0.625, 0.375],
      [0],
    ]);
    expect(counts).toEqual({ ...none, unscored: 1 });
  });

  test("shared rewards are compared instead of the totals", () => {
    const shared = { ...score(3), weights: { main: 3 } };
    const one = episode(0, { agents: { main: part("main", 1, { shared }) } });
    const other = episode(0, { agents: { main: part("main", 0, { shared: { ...score(0), weights: { main: 3 } } }) } });
    expect(advantagesOf([group(one, other)], options(), 1, 8)).toEqual([[1.5, -1.5]]);
    const lost = { ...unscored("JUDGE_FAILED", "down"), weights: { main: 3 } };
    const { counts, samples } = toSamples(
      [group(one, episode(0, { agents: { main: part("main", 1, { shared: lost }) } }))],
      options(),
      1,
      8,
    );
    expect([counts.unscored, samples[0]?.episodes.length]).toEqual([1, 1]);
  });
});

describe("toSamples", () => {
  test("numerics 10: failed and unscored members leave their group alone; the rest are compared among themselves", () => {
    const groups = [group(episode(1), failed, episode(0)), group(notScored, episode(2), episode(4), episode(6))];
    const { counts } = toSamples(groups, options(), 1, 8);
    expect(advantagesOf(groups, options(), 1, 8)).toEqual([
      [0.5, -0.5],
      [-2, 0, 2],
    ]);
    expect(counts).toEqual({ ...none, failed: 1, unscored: 1 });
  });

  test("numerics 10: advantages do not depend on the order of groups or members", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: -3, max: 3 }), { minLength: 1, maxLength: 5 }), {
          minLength: 1,
          maxLength: 4,
        }),
        (rewards) => {
          const groupsOf = (all: number[][]) => all.map((each) => group(...each.map((reward) => episode(reward))));
          const forward = advantagesOf(groupsOf(rewards), options(), 1, 8);
          const backward = advantagesOf(
            groupsOf(rewards.toReversed().map((each) => each.toReversed())),
            options(),
            1,
            8,
          );
          expect(backward.toReversed().map((each) => each.toReversed().map((a) => a.toFixed(9)))).toEqual(
            forward.map((each) => each.map((a) => a.toFixed(9))),
          );
        },
      ),
    );
  });

  test("numerics 9: a group whose other members failed has no signal and advantage exactly 0", () => {
    const { samples, rewarded } = toSamples(
      [group(episode(1), failed, notScored)],
      options({ scale: "group_std" }),
      1,
      8,
    );
    expect(rewarded[0]?.hasSignal).toBe(false);
    expect(samples[0]).toMatchObject({ episodes: [{ advantage: 0 }] });
  });

  test("rewards are compared within a role, over all agents of a role that has several", () => {
    const both = (first: number, second: number, role = "second") =>
      episode(0, { agents: { first: { ...agent(first), role: "first" }, "second#1": { ...agent(second), role } } });
    expect(advantagesOf([group(both(1, 10), both(0, 30))], options(), 1, 8)).toEqual([[0.5, -0.5, -10, 10]]);
    expect(advantagesOf([group(both(1, 2, "first"), both(3, 6, "first"))], options(), 1, 8)).toEqual([[-2, -1, 0, 3]]);
  });

  test("numerics 20: a token without a finite log-probability leaves the mask and so every denominator", () => {
    const broken = segment([0, 1, 1], { logprobs: Float32Array.of(0, Number.NaN, -2) });
    const { samples, counts } = toSamples([group(episode(1, {}, [broken]), episode(0))], options(), 1, 8);
    expect(samples[0]?.episodes[0]).toMatchObject({
      rows: [{ mask: Uint8Array.of(0, 0, 1) }],
      sampled: Float32Array.of(-2),
    });
    expect(counts).toEqual({ ...none, nonFiniteTokens: 1 });
    const nothing = segment([0, 1], { logprobs: Float32Array.of(0, -Infinity) });
    expect(
      toSamples([group(episode(1, {}, [nothing]), episode(0), episode(4))], options(), 1, 8).samples[0]?.episodes,
    ).toHaveLength(2);
  });

  test("numerics 22: an episode with a token of too old a version is dropped and counted", () => {
    const old = segment([0, 1, 1], { versions: Int32Array.of(-1, 2, 5) });
    const groups = [
      group(episode(1, {}, [old]), episode(0)),
      group(episode(1, {}, [segment([0, 1], { versions: Int32Array.of(-1, 4) })])),
    ];
    const strict = toSamples(groups, options({ max_staleness: 1 }), 5, 8);
    expect(strict.counts.stale).toBe(2);
    const aged = (max_staleness: number): number =>
      toSamples(
        [group(episode(1, {}, [segment([0, 1], { versions: Int32Array.of(-1, 3) })]))],
        options({ max_staleness }),
        5,
        8,
      ).counts.stale;
    expect([aged(1), aged(2)]).toEqual([1, 0]);
    expect(toSamples(groups, options({ max_staleness: 4 }), 5, 8).counts.stale).toBe(0);
    expect(toSamples(groups, options(), 5, 8).samples[0]?.episodes.map(({ age }) => age)).toEqual([3, 4]);
  });

  test("numerics 31: tokens that the policy was shown between its turns change neither advantages nor what is learnt", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 6 }), (shown) => {
        const long = segment([0, 1, ...Array<number>(shown).fill(0), 1]);
        const [found] = toSamples([group(episode(1, {}, [long]), episode(0))], options(), 1, 8).samples;
        expect(found?.episodes[0]).toMatchObject({ advantage: 0.5, sampled: Float32Array.of(-1, -1) });
      }),
    );
  });

  test("numerics 29, 32: exactly the tokens that the policy chose are targets: its stop token included, results of tools and padding excluded", () => {
    const [stop, pad] = [9, 9]; // A tokenizer whose pad is its end.
    const dialogue = segment([0, 1, 1, 0, 0, 1, 0], { tokens: Int32Array.of(3, 4, stop, 5, 6, stop, pad) });
    const row = toSamples([group(episode(1, {}, [dialogue]), episode(0))], options(), 1, 8).samples[0]?.episodes[0]
      ?.rows[0];
    expect(Array.from(row?.tokens ?? []).filter((_, t) => row?.mask[t] === 1)).toEqual([4, stop, stop]);
  });

  test("numerics 27: the ids that were sampled are the ids that are trained on, the very same array", () => {
    const sampled = segment([0, 1]);
    expect(
      toSamples([group(episode(1, {}, [sampled]), episode(0))], options(), 1, 8).samples[0]?.episodes[0]?.rows[0]
        ?.tokens,
    ).toBe(sampled.tokens);
  });

  test("numerics 34: an answer that the token limit cut can be left out; one that ended by itself is not", () => {
    const cut = episode(1, { turns: [turn({ stopReason: "length" })] });
    const full = episode(1, {
      agents: { agent: agent(1, { end: { terminated: false, truncated: true, truncatedBy: "tokens" } }) },
    });
    const ended = episode(1, {
      agents: { agent: agent(1, { end: { terminated: false, truncated: true, truncatedBy: "turns" } }) },
    });
    const groups = [group(cut, full, ended, episode(0))];
    expect(toSamples(groups, options(), 1, 8)).toMatchObject({ counts: none });
    const masked = toSamples(groups, options({ on_length: "mask" }), 1, 8);
    expect([masked.counts.cut, masked.samples[0]?.episodes.length]).toEqual([2, 2]);
  });

  test("numerics 34, 35: the punishment of length goes by the tokens of the longest turn, and so not by what was shown", () => {
    const twice = episode(1, {
      turns: [turn({ tokens: { segment: 0, start: 1, end: 9 } }), turn({ tokens: { segment: 0, start: 20, end: 28 } })],
    });
    expect(
      advantagesOf([group(twice, episode(1))], options({ overlong_buffer: 4, overlong_penalty: 1 }), 1, 10),
    ).toEqual([[-0.25, 0.25]]);
  });

  test("segments without a chosen token are no rows, and several segments are one episode", () => {
    const split = episode(1, {}, [segment([0, 1]), segment([0, 0]), segment([0, 0, 1, 1])]);
    const [found] = toSamples([group(split, episode(0))], options(), 1, 8).samples;
    expect(found?.episodes[0]?.rows.map(({ mask }) => mask.length)).toEqual([2, 4]);
    expect(found?.episodes[0]?.sampled).toHaveLength(3);
  });
});
