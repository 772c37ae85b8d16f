import { expect, test } from "@jest/globals";
import { diagnose } from "../src/diagnosis/diagnose.ts";
import { type Change, run, twoPolicies } from "./support/run-records.ts";

test("answers and a watch are a problem only where the reward rises with them", () => {
  const severity = (change: Change): string[] => diagnose(run(change)).map((each) => `${each.severity} ${each.rule}`);
  expect(severity((i) => ({ "watch/reward": 0.4, "watch/gap": 0.01 * i }))).toEqual(["problem watch-gap"]);
  // The real run: the hole was learnt in its second iteration.
  const real = [0.042, 0.737, 0.875, 0.714, 0.909, 1, 0.943, 1, 1, 1];
  const learnt: Change = (i) => ({ "reward/mean": real[i] ?? 1, "watch/reward": 0, "watch/gap": real[i] ?? 1 });
  const [stage] = run(learnt).stages;
  const stages = [{ ...(stage as NonNullable<typeof stage>), iterations: stage?.iterations.slice(0, 10) ?? [] }];
  expect(diagnose({ ...run(), stages })).toContainEqual(
    expect.objectContaining({ rule: "watch-gap", severity: "problem" }),
  );
  // The second score is lower everywhere, and rises as the first does.
  expect(severity((i) => ({ "watch/reward": 0.2 + 0.005 * i, "watch/gap": 0.1 }))).toEqual([]);
  expect(severity((i) => ({ "watch/reward": 0.2 + 0.01 * i, "watch/gap": 0.3 * ((7 * i) % 5) - 0.6 }))).toEqual([]);
  expect(severity(() => ({ "watch/reward": 0.1, "watch/gap": 0.6 }))).toEqual(["hint watch-gap"]);
  expect(severity(() => ({ "answers/copied": 0.9, "answers/constant": 0.9 }))).toEqual([
    "hint copied-answers",
    "hint equal-answers",
  ]);
  const still: Change = (i) => ({ "reward/mean": 0.5 + 0.01 * (i % 3) });
  expect(severity((i) => ({ ...still(i), "answers/copied": 0.02 * i }))).toContain("hint copied-answers");
  // The last move of a game is no answer.
  expect(severity(() => ({ "answers/constant": 1, "turns/mean": 4 }))).toEqual([]);
  expect(severity(() => ({ "answers/constant": 1, "turns/mean": 4, "answers/found": 1 }))).toHaveLength(1);
  // Longer answers that earn more are no drift.
  expect(severity((i) => ({ "length/mean": 20 + 2 * i }))).toEqual([]);
  expect(severity((i) => ({ ...still(i), "answers/found": 1 - 0.01 * i }))).toContain("hint answers-drift");
});

test("the finding of unscored episodes names the policy whose share is larger than that of the others", () => {
  const findings = diagnose(twoPolicies({ "a/episodes/unscored": 6, "b/episodes/unscored": 1 }));
  expect(findings.map(({ what }) => what)).toEqual([
    expect.stringMatching(/^Policy a: 2 % of its episodes end unscored, and 0\.4 % of those of the other policies/),
  ]);
  const same = diagnose(twoPolicies({ "a/episodes/unscored": 6, "b/episodes/unscored": 5 }));
  expect(same.map(({ rule }) => rule)).not.toContain("unscored-by-policy");
});

test.each([
  ["SCORER_FAILED", /^The scorer, judge or sandbox of the reward was missing or failed/],
  ["NO_MOVE_FOUND", /^The environment or its scorer gives NO_MOVE_FOUND itself.* the reward of a wrong one/],
])("unscored episodes with the code %s have their own advice", (code, advice) => {
  const found = diagnose(run(() => ({ "episodes/unscored": 2 }), { unscored: [{ code, message: "", episodes: 80 }] }));
  expect(found.map((finding) => finding.advice)).toEqual([expect.stringMatching(advice)]);
});
