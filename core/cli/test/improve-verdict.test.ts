import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { measuringConfig, trainingConfig } from "../src/services/improve/configurations.ts";
import { assertEnough, assertSound, gainToShow } from "../src/services/improve/refusal.ts";
import { improvementReport, verdictLine } from "../src/services/improve/improvement-report.ts";
import { type TaskScore, verdictOf } from "../src/services/improve/verdict.ts";

const scores = (rewards: readonly (number | null)[]): TaskScore[] =>
  rewards.map((reward, i) => ({
    ...{ task: `eval/${i}`, cluster: `eval/${i}`, episodes: 1 },
    ...{ solved: reward === 1 ? 1 : 0, reward },
  }));
const model = (rewards: readonly (number | null)[], failed = 0, cut = 0) => ({
  summary: { failed, cut, episodes: rewards.length, unscored: rewards.filter((reward) => reward === null).length },
  scores: scores(rewards),
});
const repeat = (count: number, value: number): number[] => Array.from({ length: count }, () => value);
/** The first `ones` of 40 cases are right. */
const right = (ones: number): number[] => [...repeat(ones, 1), ...repeat(40 - ones, 0)];

describe("the verdict", () => {
  test("a gain exceeds both the model before and a fixed answer", () => {
    expect(verdictOf(model(right(4)), model(right(30)), scores(right(7)))).toMatchObject({
      isGain: true,
      overBefore: { difference: 0.65, interval: [expect.any(Number), expect.any(Number)] },
      overFixed: { difference: 0.575 },
    });
    expect(verdictOf(model(right(4)), model(right(30))).isGain).toBe(true);
    expect(verdictOf(model(right(0)), model(right(40))).isGain).toBe(true);
  });

  test("a model that has learnt the form alone, no difference, or a loss, is no gain", () => {
    expect(verdictOf(model(right(0)), model(right(8)), scores([...repeat(33, 0), ...repeat(7, 1)]))).toMatchObject({
      isGain: false,
      reason: expect.stringContaining("one fixed answer"),
    });
    expect(verdictOf(model(right(9)), model(right(9)))).toMatchObject({
      isGain: false,
      overBefore: { interval: null },
    });
    expect(verdictOf(model(right(8)), model(right(10)))).toMatchObject({ isGain: false });
    expect(verdictOf(model(right(30)), model(right(4))).isGain).toBe(false);
  });

  test("an episode without a score allows no claim", () => {
    const lost = [null, ...repeat(39, 1)];
    expect(verdictOf(model(right(4)), model(lost))).toMatchObject({
      isGain: false,
      reason: expect.stringMatching(/^1 held-out/),
    });
    expect(verdictOf(model(right(4), 2), model(right(40)))).toMatchObject({
      isGain: false,
      reason: expect.stringMatching(/^2 held-out/),
    });
  });

  test("a fixed answer without a score allows no claim", () => {
    expect(verdictOf(model(right(4)), model(right(40)), scores([null, null, ...repeat(38, 0)]))).toMatchObject({
      isGain: false,
      reason: expect.stringMatching(/^2 held-out/),
    });
  });

  test("cases with equal inputs are one observation, also of the fixed answer", () => {
    const equal = (given: ReturnType<typeof model>) => ({
      ...given,
      scores: given.scores.map((score) => ({ ...score, cluster: "eval/0" })),
    });
    expect(verdictOf(equal(model(right(0))), equal(model(right(40))))).toMatchObject({
      isGain: false,
      overBefore: { difference: 1, interval: null, cases: 1 },
    });
    expect(verdictOf(equal(model(right(0))), equal(model(right(30))), scores(right(0)))).toMatchObject({
      overFixed: { cases: 1 },
    });
  });

  test("answers that the limit of tokens cut are counted, and stated with the verdict", () => {
    const verdict = verdictOf(model(right(4), 0, 0.25), model(right(30), 0, 0.05));
    expect(verdict.cut).toEqual({ before: 10, after: 2 });
    expect(verdictLine({ verdict })).toMatch(/^gain shown: .*\. The limit of tokens cut 10 answers before, 2 after\.$/);
    expect(verdictLine({ verdict: verdictOf(model(right(4)), model(right(30))) })).not.toContain("limit");
  });

  test("models that do not differ gain in at most 1 of 20 comparisons", () => {
    const coins = fc.array(fc.boolean(), { minLength: 40, maxLength: 40 });
    const pairs = fc.sample(fc.tuple(coins, coins), { numRuns: 80, seed: 5 });
    const gains = pairs.filter(([one, other]) => verdictOf(model(one.map(Number)), model(other.map(Number))).isGain);
    expect(gains.length).toBeLessThanOrEqual(4);
  });
});

describe("refusals", () => {
  const cases = (held: number, distinct = held) => ({
    ...{ ref: { id: "cases@1" }, train: 2 * held, held, distinct, hash: "h" },
  });

  test("too few cases are refused with the gain that they could show, and how many are needed", () => {
    expect(gainToShow(16)).toBeCloseTo(0.495, 3);
    expect(() => assertEnough(cases(16))).not.toThrow();
    expect(() => assertEnough(cases(15))).toThrow(
      "The file has 45 cases, 15 of them held out: they show no gain below 51 points.",
    );
    expect(() => assertEnough(cases(3))).toThrow("they can show no gain at all");
    expect(() => assertEnough(cases(20, 15))).toThrow(
      "20 of them held out, with 15 different inputs: they show no gain below 51 points.",
    );
    expect(() => assertEnough(cases(3))).toThrow(
      expect.objectContaining({ code: "CASES_UNFIT", hint: expect.stringContaining("48 different cases") }),
    );
  });

  test("a program that earns, and expected answers that do not, are refused", () => {
    const expected = (reward: number, unscored: readonly string[] = []) => ({
      ...{ missing: 0, unscored, reward, below: 3, longest: 4, fixed: "a" },
    });
    const sound = { findings: [], notes: [] };
    expect(() => assertSound(sound, expected(0.6))).not.toThrow();
    expect(() => assertSound(sound, undefined)).not.toThrow();
    expect(() => assertSound(sound, expected(0.4))).toThrow("have the mean score 0.40");
    expect(() => assertSound(sound, expected(1, ["The judge is down.", "It is still down."]))).toThrow(
      "2 expected answers of the training cases could not be scored; the first: The judge is down.",
    );
    expect(() =>
      assertSound({ findings: [{ message: "It pays.", fix: "Repair it." }], notes: [] }, expected(1)),
    ).toThrow(
      expect.objectContaining({
        code: "CASES_UNFIT",
        message: expect.stringMatching(/^It pays\./),
        hint: "Repair it.",
      }),
    );
  });
});

test("the report states cases, power, intervals and the command that serves", () => {
  const [before, after, fixed] = [model(right(4)), model(right(30)), scores(right(7))];
  const text = improvementReport({
    ...{
      file: "/cases.jsonl",
      model: "hub:A/B",
      directory: "/runs/i",
      train: "/runs/i/train-1",
      measured: "/runs/i/measure-eval-1",
    },
    cases: { ref: { id: "cases@1" }, train: 80, held: 40, distinct: 40, hash: "h" },
    search: { findings: [], notes: ["best blind program: 0.2"] },
    expected: { missing: 0, unscored: [], reward: 0.99, below: 1, longest: 7, fixed: "billing" },
    ...{ before: 0.1, after: 0.75, fixed: 0.175, verdict: verdictOf(before, after, fixed) },
  });
  for (const part of [
    "# Gain shown",
    "hub:A/B, trained on /cases.jsonl.",
    "| one fixed answer | 0.175 |",
    /\| after - before \| \+0\.650 \| \+0\.\d+ to \+0\.\d+ \|/,
    "- cases: 80 cases to train on, 40 held out",
    "- power: 40 held-out cases show a gain of 31 points at 80 % power",
    "- cheats: best blind program: 0.2",
    "1 earn less than 1: check these cases",
    "The limit of tokens cut 0 answers before, 0 after.",
    "npx mrlm serve --model /runs/i/train-1 ",
  ])
    expect(text).toMatch(part);
});

test("the training has passes over its cases, within bounds, and no held-out case; the evaluation has all of these", () => {
  const expected = { missing: 0, unscored: [], reward: 1, below: 0, longest: 40, fixed: "a" };
  const shared = (train: number, held: number, answers = true) => ({
    ...{ directory: "/runs/i", expected: answers ? expected : undefined },
    cases: { ref: { id: "cases@1", options: {} }, train, held, distinct: held, hash: "h" },
  });
  const stagesOf = (...given: Parameters<typeof shared>) => trainingConfig(shared(...given), { path: "/m" })["stages"];
  expect(stagesOf(80, 40)).toMatchObject([
    { algorithm: "sft", steps: 20 },
    { algorithm: "grpo", steps: 10 },
  ]);
  expect(stagesOf(80, 40, false)).toMatchObject([{ algorithm: "grpo", steps: 40 }]);
  expect(stagesOf(32, 16)).toMatchObject([{ steps: 10 }, { steps: 10 }]);
  expect(stagesOf(20_000, 10_000)).toMatchObject([{ steps: 400 }, { steps: 400 }]);
  expect(trainingConfig(shared(80, 40), {})).toMatchObject({ eval: { tasks: 0 }, sampling: { max_tokens: 256 } });
  const long = { ...shared(80, 40), expected: { ...expected, longest: 600 } };
  expect([trainingConfig(long, {}), measuringConfig(long, "a", "b")]).toMatchObject([
    { sampling: { max_tokens: 608 } },
    { sampling: { max_tokens: 608 } },
  ]);
  const partial = { ...shared(80, 40), expected: { ...expected, missing: 1 } };
  expect(trainingConfig(partial, {})["stages"]).toMatchObject([{ algorithm: "grpo", steps: 40 }]);
  expect(measuringConfig(shared(80, 40), "a", "b")).toMatchObject({
    models: { before: "a", after: "b" },
    eval: { tasks: 40, samples: 0, environments: [{ id: "cases@1" }] },
  });
});
