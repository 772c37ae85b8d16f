import { expect, test } from "@jest/globals";
import { episodesNotLearnt, type RunSummary } from "@mrlm/runtime";
import { barChart } from "../src/console/bar-chart.ts";
import { printSummary, type RunReport } from "../src/console/run-summary.ts";
import { timeTable } from "../src/console/time-table.ts";
import { inLocale, recordedConsole } from "./support/console.ts";
import { episodeRow } from "./support/episode-row.ts";
import { evaluation } from "./support/evaluation.ts";

const summary: RunSummary = {
  status: "finished",
  directory: `${process.cwd()}/runs/a`,
  steps: 9,
  evaluations: [{ step: 9, label: "grpo", results: [evaluation] }],
  seconds: { sampling: 3, training: 1 },
  trainingSeconds: 4,
  model: "m",
};
const report = (changes: Partial<RunSummary> = {}, more: Partial<RunReport> = {}): RunReport => ({
  summary: { ...summary, ...changes },
  curve: undefined,
  notLearnt: 0,
  examples: [],
  policies: ["policy"],
  needsConfig: false,
  log: `${process.cwd()}/runs/a/train.log`,
  ...more,
});

test("a run ends with what was learned, where time went, and what to try", () => {
  const { console, out } = recordedConsole();
  printSummary(console, report());
  expect(out()).toContain("\nmath@2, 8 held-out tasks\n");
  expect(out()).toMatch(/after grpo +9 +0\.500 +- +25 %\n/);
  expect(out()).toContain("\nfinished after 9 steps, 4.0 s\nrun directory: runs/a\ndetails: runs/a/train.log\n");
  const commands = [...out().matchAll(/^ {2}npx mrlm (\S+ \S+ ?\S*)/gm)].map(([, command]) => command);
  expect(commands).toEqual([
    "show runs/a --best",
    "render --model runs/a",
    "eval --model runs/a",
    "doctor runs/a",
    "train --config runs/a/config.yaml",
    "serve --environments math",
    "ui runs/a",
  ]);
  const policies = recordedConsole();
  printSummary(policies.console, report({}, { policies: ["doctor", "patient"] }));
  expect(policies.out()).toContain("npx mrlm render --model runs/a --policy doctor --environment math\n");
  expect(policies.out()).toContain("npx mrlm eval --model runs/a --policy doctor --environment math\n");
  const two = recordedConsole();
  printSummary(
    two.console,
    report({
      evaluations: [
        {
          step: 9,
          label: "grpo",
          results: [evaluation, { ...evaluation, environment: "code@2" }],
        },
      ],
    }),
  );
  expect(two.out()).toMatch(/^after grpo +9 +code@2 +0\.500/m);
});

test("a stopped run prints how to continue", () => {
  const { console, out } = recordedConsole();
  printSummary(console, report({ status: "stopped" }));
  expect(out()).toContain(
    "stopped after 9 steps, 4.0 s\nrun directory: runs/a\ndetails: runs/a/train.log\n\nContinue with:\n  npx mrlm train --resume runs/a\nOr evaluate the latest checkpoint:\n  npx mrlm eval --model runs/a --environment math\n",
  );
  const early = recordedConsole();
  printSummary(early.console, report({ status: "stopped", steps: 0, evaluations: [], seconds: {} }));
  expect(early.out()).not.toContain("held-out");
});

test("U16: a summary has a curve, and two tasks before and after, in Unicode or in ASCII", () => {
  const row = { ...episodeRow, components: { correct: 0 } };
  const answered = (content: string, reward: number, stop_reason: string) => ({
    ...row,
    reward,
    messages: [
      { role: "user" as const, content: "sort 21" },
      { role: "assistant" as const, content },
    ],
    turns: [{ segment: 0, start: 0, end: 1, stop_reason, reward }],
  });
  const examples = [
    {
      environment: "math@2",
      task: "eval/3",
      before: answered("", 0, "length"),
      after: answered("<answer>12", 1, "stop"),
    },
  ];
  const curve = { metric: "reward/mean", points: [0.1, 0.2, 0.9].map((value, i) => ({ step: 5 + i, value })) };
  const { console, out } = recordedConsole();
  printSummary(console, report({}, { curve, examples }));
  expect(out()).toContain("\nmean reward, steps 5 to 7\n0.900 ┤      ███\n");
  expect(out()).toMatch(
    /\(the first that improved\):\n\n {2}math@2, task eval\/3\n {4}user +sort 21\n {4}before +\(no text\)\n +\[reward 0 \(correct 0\), cut by max_tokens\]\n {4}after +<answer>12\n +\[reward 1 \(correct 0\)\]\n/,
  );
  const ofPolicy = recordedConsole();
  printSummary(ofPolicy.console, report({}, { curve: { ...curve, metric: "doctor/reward/mean" } }));
  expect(ofPolicy.out()).toContain("\nmean reward of doctor, steps 5 to 7\n");
  const ofRole = recordedConsole();
  printSummary(ofRole.console, report({}, { curve: { ...curve, metric: "reward/doctor/mean" } }));
  expect(ofRole.out()).toContain("\nmean reward of doctor, steps 5 to 7\n");
  inLocale("C", () => {
    const ascii = recordedConsole();
    printSummary(ascii.console, report({}, { curve, examples }));
    // oxlint-disable-next-line no-control-regex
    expect(ascii.out()).toMatch(/^[\x00-\x7f]*$/);
    expect(ascii.out()).toContain("0.900 |      ###\n");
  });
  expect(barChart([1, 1], 60, String).split("\n")).toHaveLength(5);
  expect(
    barChart(
      Array.from({ length: 1000 }, (_, i) => i),
      60,
      String,
    )
      .split("\n")
      .every((line) => line.length <= 60 + 8),
  ).toBe(true);
});

test("U16: time shares add up to 100, with the rest of the iterations as a row", () => {
  const shares = (seconds: Record<string, number>, trainingSeconds: number) =>
    timeTable({ ...summary, seconds, trainingSeconds })
      .split("\n")
      .slice(2)
      .map((line) => line.split(/ {2,}/));
  const rows = shares(
    { training: 16.4, evaluation: 15.5, sampling: 7.1, environment: 2.7, publish: 0.6, checkpoint: 0.3 },
    27.5,
  );
  expect(rows.map(([name]) => name)).toEqual([
    "training",
    "evaluation",
    "sampling",
    "environment",
    "rest of the iterations",
    "publish",
    "checkpoint",
    "all",
  ]);
  expect(rows.slice(0, -1).reduce((sum, [, , share]) => sum + Number.parseInt(share as string, 10), 0)).toBe(100);
  expect(rows.at(-1)?.slice(1)).toEqual(["43.3 s", "100 %"]);
  expect(shares({ sampling: 1, training: 1, publish: 1 }, 3).map((row) => row[2])).toEqual([
    "34 %",
    "33 %",
    "33 %",
    "100 %",
  ]);
});

test("N13: a run of several turns shows the last answer below the observation that it answers", () => {
  const message = (role: "user" | "assistant", content: string) => ({ role, content });
  const rowOf = (reward: number, ...texts: string[]) => ({
    ...episodeRow,
    reward,
    messages: texts.flatMap((text, i) => [
      message("user", i === 0 ? "Room: cellar" : `Room: ${i}`),
      message("assistant", text),
    ]),
    turns: texts.map((_, i) => ({ segment: 0, start: i, end: i + 1, stop_reason: "stop" as const, reward: 0 })),
  });
  const { console, out } = recordedConsole();
  const examples = [
    { environment: "house@1", task: "eval/3", before: rowOf(0, "take"), after: rowOf(0.25, "open", "up", "go chest") },
  ];
  printSummary(console, report({}, { examples }));
  expect(out()).toContain(
    [
      "  house@1, task eval/3",
      "    user      Room: cellar",
      "    before    take",
      "              [reward 0]",
      "    after     turn 3 of 3",
      "    user      Room: 2",
      "    assistant go chest",
      "              [reward 0.25]",
    ].join("\n"),
  );
});

test("N10: a run that learnt from no episode ends with a sentence that states it", () => {
  const row = (metrics: Record<string, number | null>) => ({
    kind: "iteration" as const,
    step: 1,
    stage: "grpo",
    metrics,
  });
  const unscored = row({ "episodes/played": 2, "episodes/unscored": 2, "reward/mean": null });
  const learnt = row({ "episodes/played": 2, "reward/mean": 0.5, "optim/learning_rate": 0.1 });
  expect(episodesNotLearnt([unscored, unscored])).toBe(4);
  expect(episodesNotLearnt([row({ "solver/episodes/played": 2, "solver/reward/mean": null })])).toBe(2);
  expect(episodesNotLearnt([unscored, learnt])).toBe(0);
  expect(episodesNotLearnt([row({ "solver/episodes/played": 2, "solver/reward/a/mean": 0 })])).toBe(0);
  expect(episodesNotLearnt([row({ "loss/nll": 1, "optim/learning_rate": 0.1 })])).toBe(0);
  const { console, out } = recordedConsole();
  printSummary(console, report({}, { notLearnt: 4 }));
  expect(out()).toContain(
    "Nothing was learnt: none of the 4 episodes has a reward to learn from. `npx mrlm doctor runs/a` names the first cause.\n",
  );
});
