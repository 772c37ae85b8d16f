import { describe, expect, test } from "@jest/globals";
import { type Reward, type Scorer, score, unscored } from "@mrlm/spec";
import { intermediateResults, shareShown } from "../src/intermediate-results.ts";
import { solutionOf } from "../src/solution.ts";
import { prepare } from "./support/environment.ts";

const giving = (reward: Reward, extracted?: string): Scorer => ({
  score: async () => ({ reward, verdict: "any", reason: "", ...(extracted === undefined ? {} : { extracted }) }),
});
const rewardFrom = async (scorer: Scorer, options = {}): Promise<Reward | undefined> =>
  (await (await prepare({ families: ["arithmetic"], ...options }, scorer)).play("train/0", ["<answer>1</answer>"]))[0]
    ?.rewards["agent"];

describe("rewards", () => {
  const undecided = giving(unscored("SCORER_UNDECIDED", "cannot decide"), "1");

  test("an undecided answer is unscored, and ends the episode", async () => {
    const { play } = await prepare({ attempts: 3 }, undecided);
    const [step] = await play("train/0", ["<answer>1</answer>"]);
    expect(step?.rewards["agent"]).toMatchObject({ scored: false, code: "SCORER_UNDECIDED" });
    expect(step?.terminated).toEqual({ agent: true });
  });

  test("an undecided answer earns the penalty that the options give it", async () => {
    expect(await rewardFrom(undecided, { rewards: { undecided: -0.5 } })).toMatchObject({
      scored: true,
      value: -0.5,
      components: { correct: 0, format: 1 },
    });
  });

  test("a failure of the scorer is unscored under all options", async () => {
    const failed = giving(unscored("SCORER_FAILED", "out of memory"));
    for (const families of [["arithmetic"], ["ordering"]]) {
      expect(await rewardFrom(failed, { families, rewards: { undecided: -0.5, malformed: -1 } })).toMatchObject({
        scored: false,
        code: "SCORER_FAILED",
      });
    }
  });

  test("digits are compared as written even if the scorer is undecided", async () => {
    expect(await rewardFrom(undecided, { families: ["ordering"] })).toMatchObject({ scored: true, value: 0 });
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
