import { expect, test } from "@jest/globals";
import { PlayTally } from "@mrlm/runtime";
import type { TrajectoryGroup } from "@mrlm/spec";
import { collectionReport } from "../src/console/collection-report.ts";
import { evaluationReport, tasksOf } from "../src/console/evaluation-report.ts";
import { percent } from "../src/console/numbers.ts";
import { episodeText } from "../src/console/episode-text.ts";
import { RunLog } from "../src/console/run-log.ts";
import { trainingView } from "../src/console/training-view.ts";
import { recordedConsole } from "./support/console.ts";
import { episodeRow } from "./support/episode-row.ts";
import { evaluation } from "./support/evaluation.ts";

test("U4: an answer of special tokens alone is distinguished from an empty one", () => {
  const row = { ...episodeRow, reward: 0 };
  const shown = (end: number): string =>
    episodeText({
      row: {
        ...row,
        messages: [{ role: "assistant", content: "" }],
        turns: [{ segment: 0, start: 4, end, stop_reason: "length", reward: 0 }],
      },
    });
  expect([shown(5), shown(20)]).toEqual([
    expect.stringContaining("assistant  (no text)\n"),
    expect.stringContaining("assistant  (no text: 16 tokens, all of them special)\n"),
  ]);
  const ofScript = { ...row, agent: "con", role: "con", player: { kind: "scripted" as const, name: "random" } };
  expect(episodeText({ row: { ...ofScript, messages: [], turns: [] } })).toContain(
    "agent con · played by the scripted policy random\n",
  );
});

test("an episode has the calls of its tools", () => {
  const tool_usage = [
    { name: "calculator", calls: 3, errors: 1, truncated: 0 },
    { name: "search", calls: 1, errors: 0, truncated: 1 },
  ];
  const row = { ...episodeRow, reward: 0, messages: [{ role: "user" as const, content: "?" }], turns: [], tool_usage };
  expect(episodeText({ row })).toContain("\n  tools: calculator 3 calls (1 error), search 1 call (1 truncated)\n");
});

test("an episode has the reward that is learnt from where roles share rewards", () => {
  const weights = [
    { agent: "browser#1", weight: 1 },
    { agent: "main", weight: 0.5 },
  ];
  const row = { ...episodeRow, reward: 0.25, messages: [], turns: [], terminated: true };
  const shown = (reward: number | null): string => episodeText({ row: { ...row, shared: { reward, weights } } });
  expect(shown(0.75)).toContain("reward 0.25; learns from 0.75: 1 x browser#1 + 0.5 x main; terminated");
  expect(shown(null)).toContain("; learns from nothing, because a reward of 1 x browser#1 + 0.5 x main is unscored;");
  expect(episodeText({ row })).not.toContain("learns from");
});

test("an episode has its judgements", () => {
  const judged = { judge: "rules@1", verdict: "pro", reason: "better evidence" };
  const judgements = [
    { ...judged, step: 11, reward: 0.25 },
    { ...judged, step: 11, verdict: "failed", reason: "no answer", reward: null },
  ];
  const row = { ...episodeRow, reward: 0, messages: [], turns: [], judgements };
  expect(episodeText({ row })).toContain(
    "\n  judged by rules@1 after turn 12: pro, reward 0.25: better evidence\n  judged by rules@1 after turn 12: failed, no reward: no answer",
  );
});

test("an episode has the verdict and the reason of each grade, in one line", () => {
  const graded = { scorer: "math@2", verdict: "unreadable", reason: "it is\nno number", extracted: "\\square" };
  const grades = [
    { ...graded, step: 0, reward: 0 },
    { ...graded, step: 1, verdict: "failed", reason: "no memory", extracted: null, reward: null },
  ];
  const row = { ...episodeRow, reward: 0, messages: [], turns: [], grades };
  expect(episodeText({ row })).toContain(
    "\n  graded by math@2 after turn 1: unreadable, reward 0: it is no number; answer: \\square\n  graded by math@2 after turn 2: failed, no reward: no memory",
  );
});

test("the progress of a stage has the reward of each role", () => {
  const { console, err } = recordedConsole();
  const metrics = { "reward/pro/mean": { sum: 1, count: 4 }, "reward/pro/std": 1, "reward/con/mean": -0.25 };
  const stage = {
    stage: 0,
    name: "grpo",
    iterations: 1,
    step: 1,
    seconds: 2,
    engineSeconds: 1,
    renderingSeconds: 0,
    played: [],
  };
  const view = trainingView(console, new RunLog());
  const about = { index: 0, name: "grpo", iterations: 1, iteration: 0, stages: 1, description: "Plays." };
  view({ kind: "stage", ...about });
  view({ kind: "iteration", ...stage, report: { iteration: 1, metrics, seconds: {} } });
  expect(err()).toContain("1/1  reward of pro 0.250  reward of con -0.250  2.00 s/step");
});

test("the progress of a stage with several learners has the metrics of each policy", () => {
  const { console, err } = recordedConsole();
  const metrics = {
    "doctor/reward/mean": 0.5,
    "patient/reward/pro/mean": 0.25,
    "patient/optim/grad_norm": 2,
    "patient/seconds": 1,
  };
  const view = trainingView(console, new RunLog());
  const learners = ["doctor", "patient"];
  view({ kind: "stage", index: 0, name: "a", iterations: 1, iteration: 0, stages: 1, learners, description: "Plays." });
  const stage = {
    stage: 0,
    name: "a",
    iterations: 1,
    step: 1,
    seconds: 2,
    engineSeconds: 1,
    renderingSeconds: 0,
    played: [],
  };
  view({ kind: "iteration", ...stage, report: { iteration: 1, metrics, seconds: {} } });
  expect(err()).toContain("1/1  doctor: reward 0.500  patient: reward of pro 0.250  grad norm 2.000  2.00 s/step");
});

test("the progress of a stage whose play runs ahead has its mode, the age of tokens and the waits", () => {
  const { console, err } = recordedConsole();
  const metrics = { "reward/mean": 0.5, "offpolicy/lag_mean": 1.5, "wait/training": 0.5, "wait/rollouts": 3 };
  const view = trainingView(console, new RunLog());
  const about = { index: 0, name: "grpo", iterations: 9, iteration: 0, stages: 1, description: "grpo: plays." };
  view({ kind: "stage", ...about, play: { mode: "async", lag: 4 } });
  const stage = {
    stage: 0,
    name: "grpo",
    iterations: 1,
    step: 1,
    seconds: 2,
    engineSeconds: 1,
    renderingSeconds: 0,
    played: [],
  };
  view({ kind: "iteration", ...stage, report: { iteration: 1, metrics, seconds: {} } });
  expect(err()).toContain("stage 1 of 1, grpo (9 steps, async with lag 4): plays");
  expect(err()).toContain("1/9  reward 0.500  2.00 s/step  age 1.5  training waits 25 %  play waits 100 %");
});

test("U1: an evaluation's table and a collection's have the share of cut answers", () => {
  const rows = evaluationReport({ ...evaluation, sampled: { ...evaluation.greedy, cut: 0 } }).split("\n");
  expect(rows.find((row) => row.startsWith("cut answers"))).toMatch(/^cut answers +25 % +0 %$/);
  expect(Math.max(...rows.map(({ length }) => length))).toBeLessThan(80);
  expect(collectionReport({ episodes: 4, answers: 8, cut_answers: 8 }, undefined)).toMatch(
    /answers cut by max_tokens +100 %/,
  );
  expect(collectionReport({ episodes: 1, failed: 1, answers: 0, cut_answers: 0 }, undefined)).toMatch(
    /answers cut by max_tokens +-/,
  );
  expect([0, 0.004, 0.5, 0.996, 1].map(percent)).toEqual(["0 %", "<1 %", "50 %", ">99 %", "100 %"]);
});

test("an evaluation has the results of each role against each opponent, and the shares of the sides", () => {
  const opponent = { role: "con", kind: "past", name: "policy" } as const;
  const games = { won: 6, tied: 1, lost: 1, winRate: 0.75, interval: [0.409, 0.929] } as const;
  const matches = [
    { role: "pro", policy: "policy", opponent, episodes: 8, reward: 0.625, games },
    {
      role: "con",
      policy: "policy",
      opponent: { ...opponent, role: "pro", kind: "policy" as const },
      episodes: 8,
      reward: 0.5,
    },
  ];
  const report = evaluationReport({
    ...evaluation,
    greedy: { ...evaluation.greedy, matches, sides: { pro: 0.625, con: 0.375 } },
    sampled: evaluation.greedy,
  });
  const rows = report.split("\n").map((row) => row.trim().split(/ {2,}/));
  for (const row of [
    ["plays pro", "63 %", "-"],
    ["reward as pro against past policy", "0.625", "-"],
    ["wins as pro against past policy", "0.750", "0.409 - 0.929", "-", "-"],
    ["ties as pro against past policy", "1", "-"],
    ["reward as con against itself", "0.500", "-"],
  ])
    expect(rows).toContainEqual(row);
  expect(report).not.toContain("wins as con");
});

test("models among the opponents have the last parts of their paths, as many as distinguish them", () => {
  const rowsOf = (paths: readonly string[]): string => {
    const matches = paths.map((name) => ({
      ...{ role: "pro", policy: "policy", opponent: { role: "con", kind: "model" as const, name } },
      ...{ episodes: 8, reward: 0.5 },
    }));
    return evaluationReport({ ...evaluation, greedy: { ...evaluation.greedy, matches } });
  };
  const run = "/data/experiments/runs/debate-20261102-101500";
  expect(rowsOf([`${run}/models/doctor`, "/m", "C:\\runs\\one\\model"]).match(/(?<=against model )\S+/g)).toEqual([
    "models/doctor",
    "/m",
    "one/model",
  ]);
  expect(rowsOf([`${run}/model`, "/data/other/debate-20261102-101500/model"]).match(/(?<=against model )\S+/g)).toEqual(
    ["runs/debate-20261102-101500/model", "other/debate-20261102-101500/model"],
  );
});

test("D7: an evaluation states how many of its tasks are different", () => {
  expect(tasksOf(evaluation)).toBe("8 tasks");
  const greedy = { ...evaluation.greedy, differentTasks: 5 };
  expect(tasksOf({ ...evaluation, greedy }, "held-out tasks")).toBe("8 held-out tasks (5 different)");
});

test("an evaluation is printed with the reason why episodes failed or have no score", () => {
  const greedy = {
    ...evaluation.greedy,
    failed: 1,
    firstError: "ENVIRONMENT_FAILED: gone",
    firstUnscored: "SCORER_FAILED: judge is down",
  };
  expect(evaluationReport({ ...evaluation, greedy })).toContain(
    "\n\nfailed, the first: ENVIRONMENT_FAILED: gone\nwithout a score, the first: SCORER_FAILED: judge is down",
  );
  expect(evaluationReport(evaluation)).not.toContain("first");
});

test("a training view shows episodes without a reward, and of every event with --json", () => {
  const [plain, json] = [recordedConsole(), recordedConsole({ json: true })];
  for (const { console } of [plain, json]) {
    const view = trainingView(console, new RunLog());
    view({ kind: "progress", done: 8, total: 8 });
    view({
      kind: "stage",
      index: 0,
      name: "grpo",
      iterations: 1,
      iteration: 0,
      stages: 2,
      description: "Group play (arXiv 2402.03300): plays.",
      until: 0.8,
    });
    view({
      kind: "iteration",
      stage: 0,
      name: "grpo",
      iterations: 1,
      step: 1,
      seconds: 2,
      engineSeconds: 1,
      renderingSeconds: 0,
      played: [],
      report: { iteration: 1, metrics: { "reward/mean": { sum: 1, count: 4 } }, seconds: { sampling: 1 } },
    });
    view({ kind: "evaluation", step: 1, label: "grpo", results: [evaluation], seconds: 1 });
  }
  expect(plain.err()).toBe(
    "stage 1 of 2, grpo (at most 1 steps): plays\ngrpo 1/1  reward 0.250  2.00 s/step  sampling 50 %\nevaluation (grpo, 1.0 s): math@2: greedy accuracy 0.500, cut answers 25 % (1 unscored: see `mrlm show`)\n",
  );
  expect(
    json
      .out()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object),
  ).toMatchObject([
    { event: "stage" },
    { event: "iteration", step: 1, metrics: { "reward/mean": 0.25 }, phases: { sampling: 1 } },
    { event: "evaluation" },
  ]);
});

test("N12: the line of a stage has tokens a second, the shares of the step, the time left and the step under way", () => {
  const { console, err } = recordedConsole({ columns: 300 });
  const tally = new PlayTally();
  const view = trainingView(console, new RunLog(), tally);
  const about = {
    index: 0,
    name: "grpo",
    iterations: 3,
    iteration: 0,
    stages: 1,
    description: "grpo: plays.",
    batch: 8,
  };
  view({ kind: "stage", ...about });
  const turn = { tokens: { segment: 0, start: 4, end: 104 } };
  const played = [{ trajectories: [{ turns: [turn, {}] }, { turns: [turn] }] }] as unknown as TrajectoryGroup[];
  const step = { stage: 0, name: "grpo", iterations: 3, step: 1, engineSeconds: 1, renderingSeconds: 0 };
  const report = {
    iteration: 1,
    metrics: { "reward/mean": 0.25 },
    seconds: { sampling: 1.2, training: 2, environment: 0.001 },
  };
  view({ kind: "iteration", ...step, seconds: 4, played, report });
  Object.assign(tally, { episodes: 3, answers: 4, cut: 1, tokens: 1200 });
  // An evaluation between two steps counts for none.
  view({ kind: "progress", done: 0, total: 2 });
  expect(err()).toMatch(/eval \S+ 0\/2 {2}episodes {2}0\.0 s$/);
  tally.episodes += 2;
  view({ kind: "progress", done: 2, total: 2 });
  const lines = err().split("\r\u001b[2K");
  expect(lines.at(-1)).toMatch(
    /1\/3 {2}reward 0\.250 {2}4\.00 s\/step {2}left 0\.\d s {2}50 tokens\/s {2}sampling 30 % {2}training 50 % {2}environment <1 % {2}step 2: 0 of 8 episodes, 0\.0 s$/,
  );
  Object.assign(tally, { episodes: 8, answers: 8, cut: 3, tokens: 2400 });
  view({ kind: "progress", done: 1, total: 2 });
  view.end();
  const sft = trainingView(console, new RunLog());
  sft({ kind: "stage", ...about, batch: undefined as never });
  const computed = { ...report, metrics: { "tokens/computed": 400 }, seconds: { training: 4 } };
  sft({ kind: "iteration", ...step, seconds: 4, played: [], report: computed });
  sft.end();
  expect(err()).toContain("100 tokens/s  training 100 %  step 2: 0.0 s");
});
