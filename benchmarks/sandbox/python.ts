import { execFileSync } from "node:child_process";
import { PooledSandbox } from "@mrlm/sandbox";
import {
  gradeMutants,
  gradeReferences,
  HUMANEVAL,
  hasHumanEval,
} from "../../environments/code/test/support/humaneval.ts";
import { findPython } from "../../plugins/sandbox-python/src/native/find-python.ts";
import { pythonBackend } from "../../plugins/sandbox-python/src/backend.ts";
import { pythonOptions } from "../../plugins/sandbox-python/src/options.ts";
import { nativeMissing } from "../../plugins/sandbox-python/src/native-backend.ts";
import { type Problem, readProblems } from "./humaneval.ts";
import { type Measured, measure, round } from "./measure.ts";
import { bubblewrapArgs, runProcess } from "./processes.ts";

const PARALLEL = 2;
const TESTS = 5;
const EMPTY_RUNS = 300;

/** Figures of a benchmark by name. */
export type Figures = Record<string, number | string | null>;

/** Measures both kinds of the Python sandbox and the usual methods of trainers on HumanEval's reference solutions with five tests each. */
export async function pythonFigures(seconds: number): Promise<Figures> {
  if (!hasHumanEval) throw new Error("There is no HumanEval.jsonl; set HUMANEVAL to its path.");
  const python = await findPython();
  if (typeof python === "string") throw new Error(`No Python for the baselines: ${python}`);
  const problems = readProblems(HUMANEVAL, TESTS);
  const figures: Figures = { python: python.version };

  const missing = await nativeMissing();
  if (missing !== undefined) figures["native_missing"] = missing;
  const kinds = missing === undefined ? (["pyodide", "native"] as const) : (["pyodide"] as const);
  for (const kind of kinds) await sandbox(kind);
  await baseline("process", (problem) => runProcess(python.executable, ["-I", "-S"], problem.program));
  if (missing === undefined)
    await baseline("bwrap_process", (problem) =>
      runProcess("bwrap", bubblewrapArgs(python.executable, python.folders), problem.program),
    );
  await baseline("process_per_test", async ({ programPerTest }) => {
    for (const program of programPerTest) await runProcess(python.executable, ["-I", "-S"], program);
  });
  const input = JSON.stringify([problems.map(({ program }) => program), PARALLEL, seconds]);
  report(
    "fork",
    JSON.parse(
      execFileSync(python.executable, ["-I", new URL("fork_pool.py", import.meta.url).pathname], {
        input,
        encoding: "utf8",
      }),
    ) as Measured,
  );
  figures["pyodide_to_process"] = ratio("pyodide", "process");
  figures["native_to_bwrap_process"] = ratio("native", "bwrap_process");
  // Figures that every installed kind has.
  for (const name of ["humaneval_passed", "humaneval_mutants_caught"])
    figures[name] = Math.min(...kinds.map((kind) => figures[`${kind}_${name}`] as number));
  return figures;

  /** Measures one kind of sandbox: its speed, the time of an empty submission, and the verdicts of the code environment on references and mutants. */
  async function sandbox(name: "pyodide" | "native"): Promise<void> {
    const pool = new PooledSandbox(await pythonBackend(pythonOptions.parse({ kind: name, children: PARALLEL })));
    await pool.warm();
    const testOne = async ({ submission, suite, id }: Problem): Promise<void> => {
      const report = await pool.test(submission, suite);
      const failed = report.tests.filter(({ verdict }) => verdict !== "passed");
      if (failed.length > 0)
        throw new Error(`${name}: the reference of ${id} did not pass: ${report.verdict} ${JSON.stringify(failed)}`);
    };
    for (const problem of problems) await testOne(problem);
    report(name, await measure(problems, { parallel: PARALLEL, seconds }, testOne));
    figures[`${name}_humaneval_passed`] = (await gradeReferences(pool, 1)).filter(
      ({ reward }) => reward.value === 1,
    ).length;
    figures[`${name}_humaneval_mutants_caught`] = (await gradeMutants(pool, 1)).filter(
      ({ reward }) => reward.value < 1,
    ).length;
    await pool.close();
    const single = new PooledSandbox(await pythonBackend(pythonOptions.parse({ kind: name, children: 1 })));
    await single.warm();
    const times: number[] = [];
    for (let run = 0; run < EMPTY_RUNS; run++) {
      const begun = performance.now();
      await single.run({ code: "" });
      times.push(performance.now() - begun);
    }
    figures[`${name}_fresh_p50_ms`] = round(times.sort((a, b) => a - b)[EMPTY_RUNS / 2] as number);
    await single.close();
  }

  async function baseline(name: string, work: (problem: Problem) => Promise<void>): Promise<void> {
    report(name, await measure(problems, { parallel: PARALLEL, seconds }, work));
  }

  function report(name: string, { perSecond, p50Ms, p99Ms }: Measured): void {
    figures[`${name}_per_s`] = round(perSecond);
    figures[`${name}_p50_ms`] = round(p50Ms);
    figures[`${name}_p99_ms`] = round(p99Ms);
  }

  function ratio(ours: string, theirs: string): number | null {
    const [a, b] = [figures[`${ours}_per_s`], figures[`${theirs}_per_s`]];
    return typeof a === "number" && typeof b === "number" ? round(a / b) : null;
  }
}
