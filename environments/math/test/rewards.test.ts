import { describe, expect, test } from "@jest/globals";
import { type Reward, score, type Scorer, unscored } from "@mrlm/kit";
import { intermediateResults, shareShown } from "../src/grade.ts";
import { effectiveOptions } from "../src/options.ts";
import { solutionOf } from "../src/solution.ts";
import { prepare } from "./support/environment.ts";

const giving = (reward: Reward, extracted?: string): Scorer => ({
  score: async () => ({ reward, verdict: "any", reason: "", ...(extracted === undefined ? {} : { extracted }) }),
});
const rewardFrom = async (scorer: Scorer, options = {}): Promise<Reward | undefined> =>
  (await (await prepare({ families: ["arithmetic"], ...options }, scorer)).play("train/0", ["<answer>1</answer>"]))[0]
    ?.rewards["agent"];

describe("rewards", () => {
  /** Grade of an answer that was found in its place and cannot be read. */
  const unreadable = giving(score(0), "\\square");

  test("U2: an unreadable answer is a wrong attempt, and earns what a wrong one earns in its place", async () => {
    const { play } = await prepare({ attempts: 2, rewards: { format: 0.25 } }, unreadable);
    const [first, second] = await play("train/0", ["<answer>\\square</answer>", "<answer>\\square</answer>"]);
    expect(first).toMatchObject({ rewards: { agent: { scored: true, value: 0 } }, terminated: { agent: false } });
    expect(second).toMatchObject({
      rewards: { agent: { scored: true, value: 0.25, components: { correct: 0, format: 1 } } },
      terminated: { agent: true },
    });
  });

  test.each(["arithmetic", "ordering"])(
    "U2: what a scorer cannot read for %s is unscored only where the reference is bad",
    async (family) => {
      const bad = giving(unscored("SCORER_REFERENCE_INVALID", "no number"), "1");
      expect(await rewardFrom(bad, { families: [family] })).toMatchObject({
        scored: false,
        code: "SCORER_REFERENCE_INVALID",
      });
      expect(await rewardFrom(unreadable, { families: [family] })).toMatchObject({ scored: true, value: 0 });
    },
  );

  test("the former weight of undecided answers is refused, with what replaces it", () => {
    const { error } = effectiveOptions.safeParse({ rewards: { undecided: -0.5 } });
    expect(error?.issues).toMatchObject([
      { code: "unrecognized_keys", keys: ["undecided"], message: expect.stringMatching(/is wrong and earns/) },
    ]);
  });

  test("a failure of the scorer is unscored under all options", async () => {
    const failed = giving(unscored("SCORER_FAILED", "out of memory"));
    for (const families of [["arithmetic"], ["ordering"]]) {
      expect(await rewardFrom(failed, { families, rewards: { malformed: -1 } })).toMatchObject({
        scored: false,
        code: "SCORER_FAILED",
      });
    }
  });

  test("partial credit of another scorer counts as such", async () => {
    expect(await rewardFrom(giving(score(0.5), "1"), { rewards: { correct: 2 } })).toMatchObject({
      value: 1,
      components: { correct: 0.5 },
    });
  });

  test("steps: paid by the share that is shown in order, right answer or not", async () => {
    const { play, tasks } = await prepare({ families: ["multi_step"], difficulty_range: 6, rewards: { steps: 1 } });
    const { steps, answer } = solutionOf(await tasks.get("train", 0));
    const results = intermediateResults(steps, answer);
    expect(results.length).toBeGreaterThan(1);
    const [half] = await play("train/0", [`${results[0]}\n<answer>none</answer>`]);
    expect(half?.rewards["agent"]).toMatchObject({ value: 1 / results.length, components: { correct: 0 } });
  });
});

describe("intermediate results", () => {
  test("are the numbers after the last sign of equality, without the answer", () => {
    expect(intermediateResults(["2 * 3 = 6", "x = 4 * 5 = $1,020.", "6 + 1 = 7", "so 14 / 2 = 7"], "7")).toEqual([
      "6",
      "1020",
    ]);
    expect(intermediateResults(["x^2 - 1 = (x - 1)(x + 1)", "x = 2 - sqrt(3)"], "1")).toEqual([]);
  });

  test("count in their order, whatever stands between them", () => {
    expect(shareShown(["6", "20", "7"], "first 6, then 99, then 20; 7")).toBe(1);
    expect(shareShown(["6", "20", "7"], "7 20 6")).toBeCloseTo(1 / 3);
    expect(shareShown(["6", "20", "7"], "20 and 7")).toBeCloseTo(2 / 3);
    expect(shareShown(["6"], "16 6.5 a6")).toBe(0);
    expect(shareShown([], "6")).toBeUndefined();
  });
});
