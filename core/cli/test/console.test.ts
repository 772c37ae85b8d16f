import { Writable } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import type { EvaluationResult, RunSummary } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";
import { type Console, createConsole } from "../src/console/console.ts";
import { collectionReport } from "../src/console/collection-report.ts";
import { evaluationReport } from "../src/console/evaluation-report.ts";
import { decimal, duration, percent } from "../src/console/numbers.ts";
import { progressBar } from "../src/console/progress-bar.ts";
import { reportError } from "../src/console/report-error.ts";
import { printSummary } from "../src/console/run-summary.ts";
import { shownPath } from "../src/console/shown-path.ts";
import { table } from "../src/console/table.ts";
import { trainingView } from "../src/console/training-view.ts";

/** A console whose output is kept. */
function kept(options: { readonly json?: boolean; readonly columns?: number } = {}): { readonly console: Console; out(): string; err(): string } {
  const said = { out: "", err: "" };
  const sink = (name: keyof typeof said): Writable => new Writable({ write: (chunk, _, done) => ((said[name] += String(chunk)), done()) });
  const stderr = Object.assign(sink("err"), options.columns === undefined ? {} : { isTTY: true, columns: options.columns });
  return { console: { ...createConsole({ json: options.json ?? false, stdout: sink("out"), stderr }), isInteractive: options.columns !== undefined }, out: () => said.out, err: () => said.err };
}

describe("numbers, tables, paths", () => {
  test("a share, a reward, or nothing", () => expect([decimal(0.98765), decimal(null), decimal(undefined), decimal(Number.NaN)]).toEqual(["0.988", "-", "-", "-"]));
  test("seconds, and minutes from 60 on", () => expect([duration(8.14), duration(59.94), duration(125), duration(119.6)]).toEqual(["8.1 s", "59.9 s", "2 min 05 s", "2 min 00 s"]));
  test("columns of numbers stand on the right", () => expect(table([["name", "n"], ["a", "5"], ["bc", "12"]])).toBe("name   n\n────  ──\na      5\nbc    12"));
  test("a path is relative only below the working directory, and quoted where a shell would split it", () => {
    expect([shownPath("/a/b/c", "/a/b"), shownPath("/a/b", "/a/b"), shownPath("/a/x", "/a/b"), shownPath("/a/b/my run", "/a/b"), shownPath("/a/b/..x", "/a/b")]).toEqual(["c", ".", "/a/x", "'my run'", "/a/b/..x"]);
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
    reportError(console, new MrlmError("PORT_IN_USE", "Port 1 is in use.", { hint: "Take 2.", cause: new Error("EADDRINUSE") }));
    expect(err()).toBe("error PORT_IN_USE: Port 1 is in use.\n  Take 2.\n  caused by: EADDRINUSE\n");
    const remote = kept();
    const status = Object.assign(new Error("14 UNAVAILABLE: refused"), { code: 14, details: "refused", metadata: {} });
    reportError(remote.console, new MrlmError("SERVER_UNAVAILABLE", "It cannot be reached: refused", { hint: "", cause: status }));
    expect(remote.err()).not.toContain("caused by");
    const json = kept({ json: true });
    reportError(json.console, new TypeError("oops"));
    expect([json.out(), json.err()]).toEqual(['{"event":"error","code":"INTERNAL","message":"oops"}\n', expect.stringContaining("console.test.ts")]);
  });
});

describe("progress", () => {
  test("is redrawn in place on a terminal, within its width, and taken away", () => {
    const { console, err } = kept({ columns: 30 });
    const bar = progressBar(console, "sft ");
    bar.update(3, 6, "loss 1.000  and more than fits");
    bar.clear();
    const [, drawn, cleared] = err().split("\r\u001b[2K");
    expect([drawn?.length, drawn?.startsWith("sft  ████████████░"), cleared]).toEqual([29, true, ""]);
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
  const results = [{ environment: "math@1", tasks: 8, greedy: { episodes: 8, scored: 7, unscored: 1, failed: 0, truncated: 0, cut: 0.25, reward: 0.5, accuracy: 0.5, components: {}, tokens: 4, intervals: { accuracy: null, reward: null, components: {} }, passAtK: [] } }];
  const summary: RunSummary = { status: "finished", directory: `${process.cwd()}/runs/a`, steps: 9, evaluations: [{ step: 9, label: "grpo", results }], seconds: { sampling: 3, training: 1 }, trainingSeconds: 4, model: "m" };

  test("ends with what was learned, where time went, and what to try", () => {
    const { console, out } = kept();
    printSummary(console, summary, false);
    expect(out()).toContain("  npx mrlm doctor runs/a\n");
    expect(out()).toMatch(/after grpo +9 +math@1 +8 +0\.500 +-\n/);
    expect(out()).toMatch(/sampling +3\.0 s +75 %\n/);
    expect(out()).toContain("Next:\n  npx mrlm eval --model runs/a/model --environment math\n");
  });

  test("that was stopped says how to go on", () => {
    const { console, out } = kept();
    printSummary(console, { ...summary, status: "stopped" }, false);
    expect(out()).toContain("Stopped after step 9. Continue with:\n  npx mrlm train --resume runs/a\nOr see what it has learnt so far:\n  npx mrlm eval --model runs/a --environment math\n");
    const early = kept();
    printSummary(early.console, { ...summary, status: "stopped", steps: 0, evaluations: [], seconds: {} }, false);
    expect(early.out()).not.toContain("spent");
  });

  test("U1: an evaluation's table and a collection's have the share of cut answers", () => {
    const [result] = results as unknown as [EvaluationResult];
    const [heading, , greedy] = evaluationReport(result).split("\n");
    expect([heading, greedy]).toEqual([expect.stringMatching(/tokens  cut answers  truncated/), expect.stringMatching(/ 25 % +0 +1 +0$/)]);
    expect(collectionReport({ episodes: 4, answers: 8, cut_answers: 8 }, undefined)).toMatch(/answers cut by max_tokens +100 %/);
    expect(collectionReport({ episodes: 1, failed: 1, answers: 0, cut_answers: 0 }, undefined)).toMatch(/answers cut by max_tokens +-/);
    expect([0, 0.004, 0.5, 0.996, 1].map(percent)).toEqual(["0 %", "<1 %", "50 %", ">99 %", "100 %"]);
  });

  test("is evaluated with the reason why episodes failed or have no score", () => {
    const [result] = results as unknown as [EvaluationResult];
    const greedy = { ...result.greedy, failed: 1, firstError: "ENVIRONMENT_FAILED: gone", firstUnscored: "SCORER_FAILED: judge is down" };
    expect(evaluationReport({ ...result, greedy })).toContain("\n\nfailed, the first: ENVIRONMENT_FAILED: gone\nwithout a score, the first: SCORER_FAILED: judge is down");
    expect(evaluationReport(result)).not.toContain("first");
  });

  test("tells of episodes without a reward, and of every event with --json", () => {
    const [plain, json] = [kept(), kept({ json: true })];
    for (const { console } of [plain, json]) {
      const view = trainingView(console);
      view({ kind: "progress", done: 8, total: 8 });
      view({ kind: "stage", index: 0, name: "grpo", iterations: 1, iteration: 0 });
      view({ kind: "iteration", stage: 0, name: "grpo", iterations: 1, step: 1, seconds: 2, engineSeconds: 1, report: { iteration: 1, metrics: { "reward/mean": { sum: 1, count: 4 } }, seconds: { sampling: 1 } } });
      view({ kind: "evaluation", step: 1, label: "grpo", results, seconds: 1 });
    }
    expect(plain.err()).toBe("eval 8/8  episodes\ngrpo 1/1  reward 0.250  2.00 s/step\nevaluation (grpo, 1.0 s): math@1: greedy accuracy 0.500 (1 unscored: see `mrlm show`, 25 % of the answers cut by max_tokens)\n");
    expect(json.out().trim().split("\n").map((line) => JSON.parse(line) as object)).toMatchObject([{ event: "stage" }, { event: "iteration", step: 1, metrics: { "reward/mean": 0.25 }, phases: { sampling: 1 } }, { event: "evaluation" }]);
  });
});
