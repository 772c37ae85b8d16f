import { expect, test } from "@jest/globals";
import { PANELS, seriesOf } from "../src/panels.ts";

const NAMES = [
  "reward/mean",
  "reward/correct",
  "loss/policy",
  "kl/reference",
  "mismatch/max",
  "offpolicy/kl",
  "alice/offpolicy/kl",
  "offpolicy/lag_max",
  "offpolicy/ess",
  "wait/training",
  "buffer/ready",
  "length/cut",
  "seconds/learning",
  "watch/reward",
  "alice/watch/agreement",
  "answers/copied",
];

test.each(NAMES)("%s is in one chart", (name) => {
  expect(PANELS.filter(({ pattern }) => pattern.test(name))).toHaveLength(1);
});

test("N17: an evaluation whose accuracy is always 0 is shown beside a goal that moves", () => {
  const panel = PANELS.find(({ title }) => title === "Accuracy of evaluations") as (typeof PANELS)[number];
  const series = [
    { name: "goal/accuracy", kind: "goal" as const, steps: [2, 4], values: [0, 0.25] },
    { name: "eval/house@1/greedy/accuracy", kind: "evaluation" as const, steps: [0, 4, 8], values: [0, 0, 0] },
  ];
  expect(seriesOf(panel, series).map(({ name }) => name)).toEqual(["goal/accuracy", "eval/house@1/greedy/accuracy"]);
  const [reward] = PANELS;
  const paid = ["reward/mean", "watch/reward"].map((name, i) => ({
    ...{ name, kind: "iteration" as const, steps: [1, 2], values: [0, 1 - i] },
  }));
  expect(seriesOf(reward as (typeof PANELS)[number], paid)).toHaveLength(2);
  const [failed] = PANELS.filter(({ pattern }) => pattern.test("episodes/failed"));
  const counts = ["failed", "unscored"].map((name, i) => ({
    ...{ name: `episodes/${name}`, kind: "iteration" as const, steps: [1, 2], values: [0, i] },
  }));
  expect(seriesOf(failed as (typeof PANELS)[number], counts)).toHaveLength(1);
});
