import { describe, expect, test } from "@jest/globals";
import { score, unscored } from "@mrlm/kit";
import type { AgentEnd, AgentTrajectory } from "@mrlm/spec";
import fc from "fast-check";
import { toEpisodes } from "../src/batch.ts";
import { FrozenBatch, type FrozenEpisode } from "../src/frozen-batch.ts";
import { episode, group, options, segment, turn } from "./support/episodes.ts";

const rewardsOf = (...parameters: Parameters<typeof episode>) =>
  Array.from(toEpisodes([group(episode(...parameters))], options(), "policy").groups[0]?.[0]?.rewards ?? []);

const plain = { whiten_advantages: false, gae_lambda: 0.5 };
/** Freezes a batch: log-probabilities are -1 for the policy and -2 for the reference; a state's value is its position. */
const frozenOf = (trajectory: ReturnType<typeof episode>, changes = {}, klCoefficient = 0): FrozenEpisode => {
  const settings = options({ ...plain, ...changes });
  const batch = new FrozenBatch(toEpisodes([group(trajectory)], settings, "policy").groups, settings, klCoefficient);
  const [{ rows = [], sampled = [] } = {}] = batch.groups[0] ?? [];
  if (settings.kl_coefficient > 0)
    batch.freezeReference(
      0,
      Float32Array.from(sampled, () => -2),
    );
  batch.freezeLogprobs(
    0,
    Float32Array.from(sampled, () => -1),
  );
  batch.freezeValues(0, {
    value: Float32Array.from(sampled, (_, t) => (t + 1) / 8),
    finalValue: Float32Array.from(rows, () => 0.5),
  });
  return batch.episodes(0)[0] as FrozenEpisode;
};

describe("token rewards", () => {
  test("numerics 33: a step's reward lands on the last token of its turn, never on what was shown or on padding", () => {
    expect(rewardsOf([segment([0, 1, 1, 0, 0, 1, 1, 1, 0])], [turn(1, 3, 0.25), turn(5, 8, 1)])).toEqual([
      0, 0.25, 0, 0, 1,
    ]);
  });

  test("rewards of turns in several segments, of others' turns, and from before the first turn", () => {
    expect(
      rewardsOf(
        [segment([0, 1, 1]), segment([0, 0, 1])],
        [turn(1, 3, 2), turn(2, 3, 3, { tokens: { segment: 1, start: 2, end: 3 } })],
      ),
    ).toEqual([0, 2, 3]);
    const other = { agent: "other", rewards: { agent: score(5) } };
    expect(rewardsOf([segment([0, 1, 1])], [turn(0, 9, 0, other), turn(1, 3, 1), turn(0, 9, 0, other)])).toEqual([
      5, 6,
    ]);
  });

  test("rewards can be bounded, and an answer without an end can cost something", () => {
    const cut = episode([segment([0, 1, 1])], [turn(1, 3, 9, { stopReason: "length" })]);
    const found = toEpisodes([group(cut)], options({ reward_clip: 2, cut_penalty: 0.5 }), "policy");
    expect(Array.from(found.groups[0]?.[0]?.rewards ?? [])).toEqual([0, 1.5]);
    expect(toEpisodes([group(cut)], options({ on_length: "mask" }), "policy")).toMatchObject({
      groups: [],
      counts: { cut: 1 },
    });
  });
});

test("agents of one role are episodes of their own: each is counted, and an unscored one leaves the others", () => {
  const [part] = Object.values(episode([segment([0, 1])], [turn(1, 2, 1)]).agents) as [AgentTrajectory];
  const turns = ["browser#1", "browser#2", "main"].map((agent, i) =>
    turn(1, 2, 0, { agent, rewards: { [agent]: score(i) } }),
  );
  const agents = {
    "browser#1": { ...part, role: "browser" },
    "browser#2": { ...part, role: "browser" },
    "browser#3": { ...part, role: "browser", total: unscored("SCORER_FAILED", "down") },
    main: { ...part, role: "main" },
  };
  const found = toEpisodes([group({ ...episode([], turns), agents })], options(), "policy");
  expect(found.counts.unscored).toBe(1);
  expect(found.groups[0]?.map(({ agent, rewards }) => [agent, Array.from(rewards)])).toEqual([
    ["browser#1", [0]],
    ["browser#2", [1]],
    ["main", [2]],
  ]);
});

describe("rewards that roles share", () => {
  const shared = { ...score(0), weights: { agent: 1, main: 0.5 } };
  /** The agent acts before and after `main`, and learns from half of the rewards of `main` too. */
  const together = (main: Partial<AgentEnd> = {}) => {
    const mainActs = { agent: "main", rewards: { agent: score(0.25), main: score(4) } };
    const alone = episode(
      [segment([0, 1, 1, 0, 1])],
      [
        turn(1, 3, 0, { rewards: { agent: score(1), main: score(2) } }),
        turn(0, 9, 0, mainActs),
        turn(4, 5, 0, { rewards: { main: score(8) } }),
      ],
    );
    const [part] = Object.values(alone.agents) as [AgentTrajectory];
    const other = { ...part, role: "main", segments: [], end: { terminated: true, truncated: false, ...main } };
    return group({ ...alone, agents: { agent: { ...part, shared }, main: other } });
  };
  const learntFrom = (...parameters: Parameters<typeof together>) =>
    toEpisodes([together(...parameters)], options(), "policy").groups[0]?.[0];

  test("each step's weighted sum is at the agent's latest token", () => {
    // 1 + 0.5 * 2 and 0.25 + 0.5 * 4 at the first turn's last token, 0.5 * 8 at the second turn's.
    expect(Array.from(learntFrom()?.rewards ?? [])).toEqual([0, 4.25, 4]);
    const clipped = toEpisodes([together()], options({ reward_clip: 2 }), "policy").groups[0]?.[0];
    expect(Array.from(clipped?.rewards ?? [])).toEqual([0, 4, 2]);
  });

  test("the sum over tokens is the shared total, whatever the turns and weights", () => {
    const reward = fc.integer({ min: -8, max: 8 }).map((value) => value / 4);
    const acted = fc.record({ agent: fc.constantFrom("agent", "main"), own: reward, other: reward });
    fc.assert(
      fc.property(fc.array(acted, { minLength: 1, maxLength: 6 }), reward, reward, (acts, own, other) => {
        let end = 1;
        const turns = acts.map(({ agent, own: earned, other: theirs }) =>
          turn(end, agent === "agent" ? ++end : end, 0, {
            agent,
            rewards: { agent: score(earned), main: score(theirs) },
          }),
        );
        const weights = { agent: own, main: other };
        const total = acts.reduce((sum, act) => sum + own * act.own + other * act.other, 0);
        const alone = episode([segment([0, ...Array.from({ length: end - 1 }, () => 1), 1])], turns);
        const [part] = Object.values(alone.agents) as [AgentTrajectory];
        const agents = { agent: { ...part, shared: { ...score(total), weights } } };
        const [[learnt] = []] = toEpisodes([group({ ...alone, agents })], options(), "policy").groups;
        expect(learnt?.rewards.reduce((sum, each) => sum + each, 0)).toBeCloseTo(total, 12);
      }),
      { seed: 1, numRuns: 200 },
    );
  });

  test("a limit that ends the agent whose rewards it shares cuts off a part of its own", () => {
    expect(learntFrom()?.isTruncated).toBe(false);
    expect(learntFrom({ terminated: false, truncated: true, truncatedBy: "turns" })?.isTruncated).toBe(true);
  });
});

test("an agent that ran out of context has all its rewards if the others played the episode to its end", () => {
  const { tokens: _, ...exhausted } = turn(1, 3, 0.25, { stopReason: "exhausted" });
  const isTruncated = (other: Partial<AgentEnd>, own: Partial<AgentEnd> = {}, turns = [turn(1, 3, 1), exhausted]) => {
    const alone = episode([segment([0, 1, 1])], turns, {
      terminated: false,
      truncated: true,
      truncatedBy: "tokens",
      ...own,
    });
    const [part] = Object.values(alone.agents) as [AgentTrajectory];
    const second = { ...part, role: "second", end: { terminated: false, truncated: false, ...other } };
    const found = toEpisodes([group({ ...alone, agents: { ...alone.agents, second } })], options(), "policy");
    expect(Array.from(found.groups[0]?.[0]?.rewards ?? [])).toEqual([0, turns.length === 2 ? 1.25 : 1]);
    return found.groups[0]?.[0]?.isTruncated;
  };
  expect(isTruncated({ terminated: true })).toBe(false);
  expect(isTruncated({ truncated: true, truncatedBy: "turns" })).toBe(true);
  expect(isTruncated({ truncated: true, truncatedBy: "turns" }, { terminated: true })).toBe(false);
  expect(isTruncated({ terminated: true }, {}, [turn(1, 3, 1)])).toBe(true);
});

describe("what a batch is learnt from", () => {
  test("numerics 31: tokens that were shown between turns are no time: advantages of the chosen tokens stay the same", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9 }), (shown) => {
        const long = episode(
          [segment([0, 1, 1, ...Array<number>(shown).fill(0), 1])],
          [turn(1, 3, 0.5), turn(3 + shown, 4 + shown, 1)],
        );
        const short = episode([segment([0, 1, 1, 1])], [turn(1, 3, 0.5), turn(3, 4, 1)]);
        expect(frozenOf(long).advantages).toEqual(frozenOf(short).advantages);
        // Values 1/8, 2/8, 3/8; rewards 0, 0.5, 1; λ 0.5.
        const [third, second] = [1 - 3 / 8, 0.5 + 3 / 8 - 2 / 8];
        const expected = [2 / 8 - 1 / 8 + 0.5 * (second + 0.5 * third), second + 0.5 * third, third];
        expect(Array.from(frozenOf(long).advantages)).toEqual(
          expected.map((advantage) => expect.closeTo(advantage, 12)),
        );
      }),
    );
  });

  test("splitting an episode into segments leaves its advantages unchanged", () => {
    const split = episode(
      [segment([0, 1, 1]), segment([0, 0, 1])],
      [turn(1, 3, 0.5), turn(2, 3, 1, { tokens: { segment: 1, start: 2, end: 3 } })],
    );
    const whole = episode([segment([0, 1, 1, 0, 1])], [turn(1, 3, 0.5), turn(4, 5, 1)]);
    expect(frozenOf(split).advantages).toEqual(frozenOf(whole).advantages);
  });

  test("numerics 34: after a limit the critic's value stands for later rewards; after the task's end the value is 0", () => {
    const last = (end: object) => frozenOf(episode([segment([0, 1])], [turn(1, 2, 1)], end)).advantages[0];
    expect(last({})).toBe(1 - 1 / 8);
    expect(last({ terminated: false, truncated: true, truncatedBy: "turns" })).toBe(1 + 0.5 - 1 / 8);
    expect(last({ terminated: true, truncated: true })).toBe(1 - 1 / 8);
  });

  test("numerics 48: targets and advantages come from the old values, once; λ of the critic can differ", () => {
    const one = episode([segment([0, 1, 1])], [turn(1, 3, 1)]);
    const { advantages, values, targets, returns } = frozenOf(one);
    expect(Array.from(targets)).toEqual(Array.from(advantages, (advantage, t) => advantage + (values[t] as number)));
    expect(Array.from(returns)).toEqual([1, 1]);
    expect(Array.from(frozenOf(one, { value_lambda: 1 }).targets)).toEqual([1, 1]);
  });

  test("the divergence from the reference is charged token by token, bounded if asked, and only in the reward if it stands there", () => {
    const one = episode([segment([0, 1, 1])], [turn(1, 3, 1)]);
    const returns = (changes: object) => Array.from(frozenOf(one, { kl_coefficient: 0.1, ...changes }, 0.25).returns);
    // logp - ref is 1 everywhere.
    expect(returns({})).toEqual([1 - 2 * 0.25, 1 - 0.25]);
    expect(returns({ kl_clip: 0.5 })).toEqual([1 - 2 * 0.125, 1 - 0.125]);
    expect(returns({ kl_placement: "loss" })).toEqual([1, 1]);
  });

  test("old log-probabilities are the trainer's, or the sampler's if asked", () => {
    const one = episode([{ ...segment([0, 1]), logprobs: Float32Array.of(0, -1.5) }], [turn(1, 2, 1)]);
    expect([frozenOf(one).old[0], frozenOf(one, { old_policy: "sampler" }).old[0]]).toEqual([-1, -1.5]);
  });

  test("numerics 23: what was given first stays", () => {
    const settings = options(plain);
    const batch = new FrozenBatch(
      toEpisodes([group(episode([segment([0, 1])], [turn(1, 2, 1)]))], settings, "policy").groups,
      settings,
      0,
    );
    for (const given of [1, 2]) {
      batch.freezeLogprobs(0, Float32Array.of(-given));
      batch.freezeValues(0, { value: Float32Array.of(given) });
    }
    expect(batch.episodes(0)).toMatchObject([
      { old: Float32Array.of(-1), values: Float32Array.of(1), advantages: Float64Array.of(0) },
    ]);
  });
});
