import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pythonFolder } from "./engine.mjs";
import { cacheDirectory, readJson, root } from "./repository.mjs";
import { attempt, projectNode } from "./run.mjs";

/**
 * What a test runner reported.
 * @typedef {{ passed: number, failed: number, skipped: number, exitCode: number }} TestResult
 */

/**
 * @param {string[]} options
 * @param {{ retries?: number }} [settings] `retries`: how many failed files are run again at most, one after the other; where more failed, none is
 * @returns {Promise<TestResult>}
 */
export async function runJest(options, { retries = 0 } = {}) {
  const { report, ...result } = await jestOnce(options);
  const failed = report?.testResults.filter((/** @type {any} */ file) => file.status === "failed").map((/** @type {any} */ file) => file.name) ?? [];
  if (result.exitCode === 0 || failed.length === 0 || failed.length > retries) return result;
  console.log(`run again, by themselves: ${failed.join(", ")}`);
  const { report: again, ...second } = await jestOnce([...options, "--runInBand", "--runTestsByPath", ...failed]);
  if (again === undefined) return result;
  console.log(second.exitCode === 0 ? `FLAKY, failed at first and passed alone: ${failed.join(", ")}` : "and failed again");
  return { passed: result.passed + result.failed - second.failed, failed: second.failed, skipped: result.skipped, exitCode: second.exitCode };
}

/** @param {string[]} options @returns {Promise<TestResult & { report: any }>} */
async function jestOnce(options) {
  const report = freshReport("jest.json");
  const jest = join(root, "node_modules", "jest", "bin", "jest.js");
  const { exitCode } = await attempt(
    projectNode,
    [
      "--experimental-vm-modules", // jest runs ES modules by node:vm
      "--disable-warning=ExperimentalWarning",
      jest,
      "--json",
      `--outputFile=${report}`,
      ...options,
    ],
    { stdout: "discard" },
  );
  const content = existsSync(report) ? readJson(report) : undefined;
  return { ...(content === undefined ? nothing : countJest(content)), exitCode, report: content };
}

/** @param {string} python the engine's interpreter @returns {Promise<TestResult>} */
export async function runPytest(python) {
  const report = freshReport("pytest.xml");
  const { exitCode } = await attempt(python, ["-m", "pytest", "-q", `--junitxml=${report}`], { cwd: pythonFolder });
  return { ...(existsSync(report) ? countJunit(readFileSync(report, "utf8")) : nothing), exitCode };
}

const nothing = { passed: 0, failed: 0, skipped: 0 };

/**
 * A test file that could not even be loaded has no tests to count: it counts as one failure.
 * @param {any} report as written by `jest --json`
 */
export function countJest(report) {
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/** @param {string} xml as written by `pytest --junitxml` */
export function countJunit(xml) {
  const suites = [...xml.matchAll(/<testsuite\s[^>]*>/g)].map(([tag]) => tag);
  const sum = (/** @type {string} */ name) =>
    suites.reduce((total, tag) => total + Number(new RegExp(`\\s${name}="(\\d+)"`).exec(tag)?.[1] ?? 0), 0);
  const failed = sum("failures") + sum("errors");
  const skipped = sum("skipped");
  return { passed: sum("tests") - failed - skipped, failed, skipped };
}

/** @param {TestResult[]} results */
export function addCounts(results) {
  const sum = (/** @type {'passed' | 'failed' | 'skipped'} */ key) =>
    results.reduce((total, result) => total + result[key], 0);
  return { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
}

/** A report of an earlier run must not be taken for this one's. */
function freshReport(/** @type {string} */ name) {
  const file = join(cacheDirectory, name);
  mkdirSync(cacheDirectory, { recursive: true });
  rmSync(file, { force: true });
  return file;
}
