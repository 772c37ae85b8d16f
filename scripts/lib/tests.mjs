import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { pythonFolder } from "./engine.mjs";
import { cacheDirectory, readJson, root } from "./repository.mjs";
import { attempt, projectNode } from "./run.mjs";

/**
 * Report of a test runner.
 * @typedef {{ passed: number, failed: number, skipped: number, exitCode: number }} TestResult
 */

/**
 * @param {string[]} options of jest
 * @returns {Promise<TestResult & { report: any }>} with what jest has written
 */
export async function runJest(options) {
  const report = freshReport("jest.json");
  const jest = join(root, "node_modules", "jest", "bin", "jest.js");
  const { exitCode } = await attempt(
    projectNode,
    ["--disable-warning=ExperimentalWarning", jest, "--json", `--outputFile=${report}`, ...options],
    { stdout: "discard" },
  );
  const content = existsSync(report) ? readJson(report) : undefined;
  return { ...(content === undefined ? nothing : countJest(content)), exitCode, report: content };
}

/**
 * Prints the output of pytest at its end, so that it does not mix with that of jest.
 * @param {string} python the engine's interpreter @param {string[]} [options] of pytest
 * @returns {Promise<TestResult & { durations: Duration[] }>}
 */
export async function runPytest(python, options = []) {
  const report = freshReport("pytest.xml");
  const args = ["-m", "pytest", "-q", `--junitxml=${report}`, ...options];
  const { exitCode, stdout } = await attempt(python, args, { cwd: pythonFolder, stdout: "capture" });
  process.stderr.write(stdout);
  const xml = existsSync(report) ? readFileSync(report, "utf8") : undefined;
  return {
    ...(xml === undefined ? nothing : countJunit(xml)),
    exitCode,
    durations: xml === undefined ? [] : junitDurations(xml),
  };
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

/**
 * Returns the cases of the tests that passed: the number that a test's title begins with, 1 where it begins with none.
 * @param {any} report as written by `jest --json`
 */
export function countCases(report) {
  const titles = (report?.testResults ?? [])
    .flatMap((/** @type {any} */ file) => file.assertionResults)
    .filter((/** @type {any} */ { status }) => status === "passed")
    .map((/** @type {any} */ { title }) => title.replace(/^[A-Z]\d+: /, "").replaceAll(/(?<=\d),(?=\d)/g, ""));
  return titles.reduce(
    (/** @type {number} */ sum, /** @type {string} */ title) => sum + Number(/^\d+/.exec(title)?.[0] ?? 1),
    0,
  );
}

/**
 * Test with the seconds that it took.
 * @typedef {{ title: string, seconds: number }} Duration
 */

/** @param {any} report as written by `jest --json` @returns {Duration[]} */
export function jestDurations(report) {
  return (report?.testResults ?? []).flatMap((/** @type {any} */ { name, assertionResults }) =>
    assertionResults.map((/** @type {any} */ { fullName, duration }) => ({
      title: `${relative(root, name)}: ${fullName}`,
      seconds: (duration ?? 0) / 1000,
    })),
  );
}

/** @param {string} xml as written by `pytest --junitxml` @returns {Duration[]} */
export function junitDurations(xml) {
  return [...xml.matchAll(/<testcase classname="([^"]*)" name="([^"]*)" time="([^"]*)"/g)].map(
    ([, module, name, time]) => ({ title: `${module}: ${name}`, seconds: Number(time) }),
  );
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
