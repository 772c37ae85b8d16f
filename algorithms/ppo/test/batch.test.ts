import { describe, expect, test } from "@jest/globals";
import { type EngineUnit, type OutputSelection, score } from "@mrlm/spec";
import type { AlgorithmContext } from "@mrlm/spec";
import fc from "fast-check";
import { type FrozenEpisode, toEpisodes } from "../src/batch.ts";
import { freeze } from "../src/freeze.ts";
import { episode, group, options, segment, turn } from "./support/episodes.ts";

const rewardsOf = (...parameters: Parameters<typeof episode>) => Array.from(toEpisodes([group(episode(...parameters))], options()).groups[0]?.[0]?.rewards ?? []);

/** An engine whose policy gives -1, whose reference -2, and whose critic values each state by its position in the episode. */
const context = {
  policy: "policy",
  reference: async () => "reference",
  sampling: { temperature: 1 },
  engine: {
    forward: async ({ model, units }: { model: string; units: readonly EngineUnit[]; outputs: OutputSelection }) =>
      units.map(({ sequences }) => {
        const chosen = sequences.flatMap(({ mask }) => Array.from(mask).filter((each) => each === 1));
        if (model !== "critic") return { logprob: Float32Array.from(chosen, () => (model === "policy" ? -1 : -2)) };
        return { value: Float32Array.from(chosen, (_, t) => (t + 1) / 8), finalValue: Float32Array.from(sequences, () => 0.5) };
      }),
  },
} as unknown as AlgorithmContext;
const plain = { whiten_advantages: false, gae_lambda: 0.5 };
const frozenOf = async (trajectory: ReturnType<typeof episode>, changes = {}, klCoefficient = 0): Promise<FrozenEpisode> =>
  (await freeze(context, options({ ...plain, ...changes }), "critic", toEpisodes([group(trajectory)], options(changes)).groups, klCoefficient))[0]?.[0] as FrozenEpisode;

describe("token rewards", () => {
  test("numerics 33: a step's reward lands on the last token of its turn, never on what was shown or on padding", () => {
    expect(rewardsOf([segment([0, 1, 1, 0, 0, 1, 1, 1, 0])], [turn(1, 3, 0.25), turn(5, 8, 1)])).toEqual([0, 0.25, 0, 0, 1]);
  });

  test("rewards of turns in several segments, of others' turns, and from before the first turn", () => {
    expect(rewardsOf([segment([0, 1, 1]), segment([0, 0, 1])], [turn(1, 3, 2), turn(2, 3, 3, { segment: 1 })])).toEqual([0, 2, 3]);
    const other = { agent: "other", rewards: { agent: score(5) } };
    expect(rewardsOf([segment([0, 1, 1])], [turn(0, 9, 0, other), turn(1, 3, 1), turn(0, 9, 0, other)])).toEqual([5, 6]);
  });

  test("rewards can be bounded, and an answer without an end can cost something", () => {
    const cut = episode([segment([0, 1, 1])], [turn(1, 3, 9, { stopReason: "length" })]);
    const found = toEpisodes([group(cut)], options({ reward_clip: 2, cut_penalty: 0.5 }));
    expect(Array.from(found.groups[0]?.[0]?.rewards ?? [])).toEqual([0, 1.5]);
    expect(toEpisodes([group(cut)], options({ on_length: "mask" }))).toMatchObject({ groups: [], counts: { cut: 1 } });
  });
});

describe("what a batch is learnt from", () => {
  test("numerics 31: tokens that were shown between turns are no time: advantages of the chosen tokens stay the same", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 9 }), async (shown) => {
        const long = episode([segment([0, 1, 1, ...Array<number>(shown).fill(0), 1])], [turn(1, 3, 0.5), turn(3 + shown, 4 + shown, 1)]);
        const short = episode([segment([0, 1, 1, 1])], [turn(1, 3, 0.5), turn(3, 4, 1)]);
        expect((await frozenOf(long)).advantages).toEqual((await frozenOf(short)).advantages);
      }),
    );
  });

  test("splitting an episode into segments leaves its advantages unchanged", async () => {
    const split = episode([segment([0, 1, 1]), segment([0, 0, 1])], [turn(1, 3, 0.5), turn(2, 3, 1, { segment: 1 })]);
    const whole = episode([segment([0, 1, 1, 0, 1])], [turn(1, 3, 0.5), turn(4, 5, 1)]);
    expect((await frozenOf(split)).advantages).toEqual((await frozenOf(whole)).advantages);
  });

  test("numerics 34: after a limit the critic says what would have come; after an end nothing comes", async () => {
    const last = async (end: object) => (await frozenOf(episode([segment([0, 1])], [turn(1, 2, 1)], end))).advantages[0];
    expect(await last({})).toBe(1 - 1 / 8);
    expect(await last({ terminated: false, truncated: true, truncatedBy: "turns" })).toBe(1 + 0.5 - 1 / 8);
    expect(await last({ terminated: true, truncated: true })).toBe(1 - 1 / 8);
  });

  test("numerics 48: targets and advantages come from the old values, once; λ of the critic can differ", async () => {
    const one = episode([segment([0, 1, 1])], [turn(1, 3, 1)]);
    const { advantages, values, targets, returns } = await frozenOf(one);
    expect(Array.from(targets)).toEqual(Array.from(advantages, (advantage, t) => advantage + (values[t] as number)));
    expect(Array.from(returns)).toEqual([1, 1]);
    expect(Array.from((await frozenOf(one, { value_lambda: 1 })).targets)).toEqual([1, 1]);
  });

  test("the divergence from the reference is charged token by token, bounded if asked, and only in the reward if it stands there", async () => {
    const one = episode([segment([0, 1, 1])], [turn(1, 3, 1)]);
    const returns = async (changes: object) => Array.from((await frozenOf(one, { kl_coefficient: 0.1, ...changes }, 0.25)).returns);
    // logp - ref is 1 everywhere.
    expect(await returns({})).toEqual([1 - 2 * 0.25, 1 - 0.25]);
    expect(await returns({ kl_clip: 0.5 })).toEqual([1 - 2 * 0.125, 1 - 0.125]);
    expect(await returns({ kl_placement: "loss" })).toEqual([1, 1]);
  });

  test("old log-probabilities are the trainer's, or the sampler's if asked", async () => {
    const one = episode([{ ...segment([0, 1]), logprobs: Float32Array.of(0, -1.5) }], [turn(1, 2, 1)]);
    expect([(await frozenOf(one)).old[0], (await frozenOf(one, { old_policy: "sampler" })).old[0]]).toEqual([-1, -1.5]);
  });
});
