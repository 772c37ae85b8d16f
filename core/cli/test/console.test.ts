import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import type { EvaluationResult, RunSummary } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import { type Console, createConsole } from "../src/console/console.ts";
import { collectionReport } from "../src/console/collection-report.ts";
import { evaluationReport } from "../src/console/evaluation-report.ts";
import { barChart } from "../src/console/bar-chart.ts";
import { decimal, duration, percent } from "../src/console/numbers.ts";
import { progressBar } from "../src/console/progress-bar.ts";
import { reportError } from "../src/console/report-error.ts";
import { episodeText } from "../src/console/episode-text.ts";
import { RunLog, withLog } from "../src/console/run-log.ts";
import { printSummary, type RunReport } from "../src/console/run-summary.ts";
import { shownPath } from "../src/console/shown-path.ts";
import { timeTable } from "../src/console/time-table.ts";
import { table } from "../src/console/table.ts";
import { trainingView } from "../src/console/training-view.ts";

/** Runs something in another locale. */
function inLocale(locale: string, what: () => void): void {
  const before = process.env["LC_ALL"];
  process.env["LC_ALL"] = locale;
  try {
    what();
  } finally {
    process.env["LC_ALL"] = before;
  }
}

process.env["LC_ALL"] = "C.UTF-8";

/** A console whose output is kept. */
function kept(options: { readonly json?: boolean; readonly columns?: number } = {}): {
  readonly console: Console;
  out(): string;
  err(): string;
} {
  const said = { out: "", err: "" };
  const sink = (name: keyof typeof said): Writable =>
    new Writable({ write: (chunk, _, done) => ((said[name] += String(chunk)), done()) });
  const stderr = Object.assign(
    sink("err"),
    options.columns === undefined ? {} : { isTTY: true, columns: options.columns },
  );
  return {
    console: {
      ...createConsole({ json: options.json ?? false, stdout: sink("out"), stderr }),
      isInteractive: options.columns !== undefined,
    },
    out: () => said.out,
    err: () => said.err,
  };
}

describe("numbers, tables, paths", () => {
  test("a share, a reward, or nothing", () =>
    expect([decimal(0.98765), decimal(null), decimal(undefined), decimal(Number.NaN)]).toEqual([
      "0.988",
      "-",
      "-",
      "-",
    ]));
  test("seconds, and minutes from 60 on", () =>
    expect([duration(8.14), duration(59.94), duration(125), duration(119.6)]).toEqual([
      "8.1 s",
      "59.9 s",
      "2 min 05 s",
      "2 min 00 s",
    ]));
  test("columns of numbers stand on the right", () =>
    expect(
      table([
        ["name", "n"],
        ["a", "5"],
        ["bc", "12"],
      ]),
    ).toBe("name   n\n────  ──\na      5\nbc    12"));
  test("a path is relative only below the working directory, and quoted where a shell would split it", () => {
    expect([
      shownPath("/a/b/c", "/a/b"),
      shownPath("/a/b", "/a/b"),
      shownPath("/a/x", "/a/b"),
      shownPath("/a/b/my run", "/a/b"),
      shownPath("/a/b/..x", "/a/b"),
    ]).toEqual(["c", ".", "/a/x", "'my run'", "/a/b/..x"]);
  });
});

describe("what goes where", () => {
  test("for people: results on stdout, notes on stderr", () => {
    const { console, out, err } = kept();
    console.print("result");
    console.note("note");
    console.emit({ event: "x" });
    expect([out(), err()]).toEqual(["result\n", "note\n"]);
  });

  test("--json: stdout holds objects only", () => {
    const { console, out } = kept({ json: true });
    console.print("result");
    console.emit({ event: "x", n: 1 });
    expect(out()).toBe('{"event":"x","n":1}\n');
  });

  test("an error has its code, its hint and the causes that add something", () => {
    const { console, err } = kept();
    reportError(
      console,
      new MrlmError("PORT_IN_USE", "Port 1 is in use.", { hint: "Take 2.", cause: new Error("EADDRINUSE") }),
    );
    expect(err()).toBe("error PORT_IN_USE: Port 1 is in use.\n  Take 2.\n  caused by: EADDRINUSE\n");
    const remote = kept();
    const status = Object.assign(new Error("14 UNAVAILABLE: refused"), { code: 14, details: "refused", metadata: {} });
    reportError(
      remote.console,
      new MrlmError("SERVER_UNAVAILABLE", "It cannot be reached: refused", { hint: "", cause: status }),
    );
    expect(remote.err()).not.toContain("caused by");
    const json = kept({ json: true });
    reportError(json.console, new TypeError("oops"));
    expect([json.out(), json.err()]).toEqual([
      '{"event":"error","code":"INTERNAL","message":"oops"}\n',
      expect.stringContaining("console.test.ts"),
    ]);
  });
});

describe("progress", () => {
  test("is redrawn in place on a terminal, within its width, and taken away", () => {
    const { console, err } = kept({ columns: 30 });
    const bar = progressBar(console, "sft ");
    bar.update(3, 6, "loss 1.000  and more than fits");
    bar.clear();
    const [, drawn, cleared] = err().split("\r\u001b[2K");
    expect([drawn, cleared]).toEqual(["sft  ████░░░░ 3/6  loss 1.000", ""]);
    const narrow = kept({ columns: 28 });
    progressBar(narrow.console, "sft ").update(3, 6, "loss 1.000  entropy 0.5");
    expect(narrow.err()).toMatch(/ 3\/6$/);
    const wide = kept({ columns: 120 });
    progressBar(wide.console, "sft ").update(3, 6, "loss");
    expect(wide.err()).toContain(`sft  ${"█".repeat(12)}${"░".repeat(12)} 3/6`);
  });

  test("elsewhere is a line at the start and the end, and none with --json", () => {
    const plain = kept();
    const json = kept({ json: true });
    for (const { console } of [plain, json]) {
      const bar = progressBar(console, "sft");
      for (let step = 1; step <= 5; step++) bar.update(step, 5, "loss");
    }
    expect([plain.err(), json.err()]).toEqual(["sft 1/5  loss\nsft 5/5  loss\n", ""]);
  });
});

describe("a run", () => {
  const results = [
    {
      environment: "math@1",
      tasks: 8,
      greedy: {
        episodes: 8,
        scored: 7,
        unscored: 1,
        failed: 0,
        truncated: 0,
        cut: 0.25,
        reward: 0.5,
        accuracy: 0.5,
        components: {},
        tokens: 4,
        intervals: { accuracy: null, reward: null, components: {} },
        passAtK: [],
      },
    },
  ];
  const summary: RunSummary = {
    status: "finished",
    directory: `${process.cwd()}/runs/a`,
    steps: 9,
    evaluations: [{ step: 9, label: "grpo", results }],
    seconds: { sampling: 3, training: 1 },
    trainingSeconds: 4,
    model: "m",
  };
  const report = (changes: Partial<RunSummary> = {}, more: Partial<RunReport> = {}): RunReport => ({
    summary: { ...summary, ...changes },
    curve: undefined,
    examples: [],
    needsConfig: false,
    log: `${process.cwd()}/runs/a/train.log`,
    ...more,
  });

  test("ends with what was learned, where time went, and what to try", () => {
    const { console, out } = kept();
    printSummary(console, report());
    expect(out()).toContain("\nmath@1, 8 held-out tasks\n");
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
    ]);
    const two = kept();
    const [first] = results;
    printSummary(
      two.console,
      report({
        evaluations: [
          {
            step: 9,
            label: "grpo",
            results: [first as EvaluationResult, { ...(first as EvaluationResult), environment: "code@1" }],
          },
        ],
      }),
    );
    expect(two.out()).toMatch(/^after grpo +9 +code@1 +0\.500/m);
  });

  test("that was stopped says how to go on", () => {
    const { console, out } = kept();
    printSummary(console, report({ status: "stopped" }));
    expect(out()).toContain(
      "stopped after 9 steps, 4.0 s\nrun directory: runs/a\ndetails: runs/a/train.log\n\nContinue with:\n  npx mrlm train --resume runs/a\nOr measure what it has learnt so far:\n  npx mrlm eval --model runs/a --environment math\n",
    );
    const early = kept();
    printSummary(early.console, report({ status: "stopped", steps: 0, evaluations: [], seconds: {} }));
    expect(early.out()).not.toContain("held-out");
  });

  test("U16: has a curve, and two tasks before and after, in Unicode or in ASCII", () => {
    const row = {
      id: "0",
      environment: "math@1",
      task: "eval/3",
      seed: 1,
      group: "0",
      member: 0,
      agent: "agent",
      renderer: "",
      segments: [],
      components: { correct: 0 },
      terminated: true,
      truncated: false,
    };
    const said = (content: string, reward: number, stop_reason: string) => ({
      ...row,
      reward,
      messages: [
        { role: "user" as const, content: "sort 21" },
        { role: "assistant" as const, content },
      ],
      turns: [{ segment: 0, start: 0, end: 1, stop_reason, reward }],
    });
    const examples = [
      { environment: "math@1", task: "eval/3", before: said("", 0, "length"), after: said("<answer>12", 1, "stop") },
    ];
    const curve = { metric: "reward/mean", points: [0.1, 0.2, 0.9].map((value, i) => ({ step: 5 + i, value })) };
    const { console, out } = kept();
    printSummary(console, report({}, { curve, examples }));
    expect(out()).toContain("\nmean reward, steps 5 to 7\n0.900 ┤      ███\n");
    expect(out()).toMatch(
      /\(the first that improved\):\n\n {2}math@1, task eval\/3\n {4}user +sort 21\n {4}before +\(no text\)\n +\[reward 0 \(correct 0\), cut by max_tokens\]\n {4}after +<answer>12\n +\[reward 1 \(correct 0\)\]\n/,
    );
    inLocale("C", () => {
      const ascii = kept();
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

  test("U4: an answer of special tokens alone is distinguished from an empty one", () => {
    const row = {
      id: "0",
      environment: "math@1",
      task: "eval/3",
      seed: 1,
      group: "0",
      member: 0,
      agent: "agent",
      renderer: "",
      segments: [],
      components: {},
      terminated: true,
      truncated: false,
      reward: 0,
    };
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

  test("U16: the log has what is printed, and the details, from the beginning", () => {
    const file = join(mkdtempSync(join(tmpdir(), "mrlm-log-")), "train.log");
    const log = new RunLog();
    const { console, out, err } = kept();
    const logged = withLog(console, log);
    logged.note("starting");
    log.write("memory");
    log.open(file);
    logged.print("result");
    expect([out(), err()]).toEqual(["result\n", "starting\n"]);
    expect(readFileSync(file, "utf8").replace(/^\S+ /gm, "")).toBe("starting\nmemory\nresult\n");
    log.open("/dev/null/no");
    expect(() => log.write("more")).not.toThrow();
  });

  test("U4: what models, environments and plugins write reaches no terminal as a control sequence", () => {
    const log = new RunLog();
    const file = join(mkdtempSync(join(tmpdir(), "mrlm-log-")), "train.log");
    log.open(file);
    const { console, out, err } = kept();
    const logged = withLog(console, log);
    logged.print("a\u001b[2J\u001b]0;title\u0007\r\n\tb\rc\u009b1A é│");
    logged.note("\u0008\u007f");
    expect([out(), err()]).toEqual([
      "a\\u001b[2J\\u001b]0;title\\u0007\n\tb\\u000dc\\u009b1A é│\n",
      "\\u0008\\u007f\n",
    ]);
    // oxlint-disable-next-line no-control-regex
    expect(readFileSync(file, "utf8")).toMatch(/^[^\x00-\x08\x0b-\x1f\x7f-\x9f]+$/);
  });

  test("U1: an evaluation's table and a collection's have the share of cut answers", () => {
    const [result] = results as unknown as [EvaluationResult];
    const rows = evaluationReport({ ...result, sampled: { ...result.greedy, cut: 0 } }).split("\n");
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

  test("is evaluated with the reason why episodes failed or have no score", () => {
    const [result] = results as unknown as [EvaluationResult];
    const greedy = {
      ...result.greedy,
      failed: 1,
      firstError: "ENVIRONMENT_FAILED: gone",
      firstUnscored: "SCORER_FAILED: judge is down",
    };
    expect(evaluationReport({ ...result, greedy })).toContain(
      "\n\nfailed, the first: ENVIRONMENT_FAILED: gone\nwithout a score, the first: SCORER_FAILED: judge is down",
    );
    expect(evaluationReport(result)).not.toContain("first");
  });

  test("tells of episodes without a reward, and of every event with --json", () => {
    const [plain, json] = [kept(), kept({ json: true })];
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
        report: { iteration: 1, metrics: { "reward/mean": { sum: 1, count: 4 } }, seconds: { sampling: 1 } },
      });
      view({ kind: "evaluation", step: 1, label: "grpo", results, seconds: 1 });
    }
    expect(plain.err()).toBe(
      "stage 1 of 2, grpo (at most 1 steps): plays\ngrpo 1/1  reward 0.250  2.00 s/step\nevaluation (grpo, 1.0 s): math@1: greedy accuracy 0.500, cut answers 25 % (1 unscored: see `mrlm show`)\n",
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
});
