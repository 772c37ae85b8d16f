// npm test [-- PATH...]: installs and builds missing parts, then runs the fast tests of both languages and sums their counts. With paths, or other
// options of jest, it runs the tests there, slow ones included.
// With --suite NAME first, it runs another part, which has an npm script of its own:
//   all              the fast tests, the slow ones (test/**/*.slow.ts, and `slow` of pytest), and a seeded sample of each suite below
//   engine           the Python tests of the engine alone
//   parallel         meshes of 2 and 4 ranks in the engine, in the long form
//   faults [AREA]    the files test/**/*.faults.ts, or those of an area: thousands of cases of each class of fault
//   same-bits BASE   trains small jobs by this commit and by another, and compares the results to the last bit
//   models           real models, which PyPI has: --only smollm2, --short (three steps of GRPO)
//   interop          the clients of other frameworks against one server; the last line counts clients
//   any other        the files test/**/*.NAME.ts, one after the other because they report durations
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureCpu, slowness } from "./lib/cpu-time.mjs";
import { root } from "./lib/repository.mjs";
import { attempt, projectNode, run } from "./lib/run.mjs";
import { chooseSample } from "./lib/sample.mjs";
import { script } from "./lib/script.mjs";
import { setup } from "./lib/setup.mjs";
import useTemporaryFolder from "./lib/temporary-folder.mjs";
import { addCounts, countCases, jestDurations, runJest, runPytest } from "./lib/tests.mjs";

/**
 * Python packages that a suite compares with.
 * @type {Record<string, string>}
 */
const PEERS = {
  parity: "benchmarks/train/peers/requirements.txt",
};

/** Seconds that a test of `npm test` may take; more on a machine that is slower, see `slowness`. */
const LONGEST = 5;

/** Share of the machine's CPUs that other processes may take where {@link LONGEST} is enforced. */
const IDLE = 0.1;

/** `--testMatch` stands last: jest takes each word after it as one more pattern, and would run every file. */
const BOTH_TIERS = [
  "--testMatch=**/test/**/*.test.ts",
  "--testMatch=**/test/**/*.test.mjs",
  "--testMatch=**/test/**/*.slow.ts",
];

await script(async () => {
  const args = process.argv.slice(2);
  const suite = args[0] === "--suite" ? args[1] : undefined;
  const rest = suite === undefined ? args : args.slice(2);
  const { python } = await setup({ dev: true });
  useTemporaryFolder();
  if (suite === undefined && rest.length === 0) return await runFastTests(python);
  if (suite === "all") return await runAll(python, rest);
  if (suite === "faults") return await runFaults(rest);
  if (suite === "same-bits") return await runSameBits(rest);
  return reportResults(await runSuite(python, suite, rest), suite === "interop" ? " clients" : "");
});

/** @param {string} python @param {string | undefined} suite @param {string[]} options @returns {Promise<import("./lib/tests.mjs").TestResult[]>} */
async function runSuite(python, suite, options) {
  if (suite === undefined) return [await runJest([...options, ...BOTH_TIERS])];
  if (suite === "engine") return [await runPytest(python, options)];
  if (suite === "parallel") return [await runPytest(python, ["-m", "", "tests/parallel", ...options])];
  if (suite === "models") {
    const { values } = parseArgs({ args: options, options: { only: { type: "string" }, short: { type: "boolean" } } });
    if (values.only !== undefined) process.env.MRLM_TEST_MODEL = values.only;
    if (values.short === true) process.env.MRLM_TEST_SHORT = "1";
    options = [];
  }
  const requirements = PEERS[suite];
  if (requirements !== undefined) {
    const { stdout } = await run(
      python,
      ["benchmarks/train/peers/setup_environment.py", "--requirements", join(root, requirements)],
      { stdout: "capture" },
    );
    process.env.MRLM_PEER_PYTHON = stdout.trim().split("\n").at(-1);
  }
  return [await runJest(["--runInBand", ...options, `--testMatch=**/test/**/*.${suite}.ts`])];
}

/**
 * The tests that a contributor runs after each change. One that is slow fails them: as soon as many are, contributors no longer run them. Beside other processes each test
 * takes longer, so that only an idle machine decides.
 * @param {string} python
 */
async function runFastTests(python) {
  const longest = LONGEST * slowness();
  const cpu = measureCpu();
  // Both at the same time: tests of processes wait more than they compute.
  const [jest, pytest] = await Promise.all([runJest([]), runPytest(python, ["-m", "not slow"])]);
  const { seconds, others } = cpu();
  const slow = [...jestDurations(jest.report), ...pytest.durations].filter((test) => test.seconds > longest);
  for (const { title, seconds } of slow)
    console.log(`above ${longest.toFixed(1)} s: ${seconds.toFixed(1)} s, ${title}`);
  const isIdle = others <= IDLE;
  if (slow.length > 0 && !isIdle)
    console.log(`Not counted as failures: other processes took ${Math.round(others * 100)} % of the CPUs.`);
  console.log(`${seconds.toFixed(0)} CPU-seconds`);
  const late = isIdle ? slow.length : 0;
  return reportResults([jest, pytest, { passed: -late, failed: late, skipped: 0, exitCode: late > 0 ? 1 : 0 }]);
}

/** @param {string} python @param {string[]} options `--seed N` of the sample, else the day */
async function runAll(python, [, given]) {
  const seed = Number(given ?? Math.floor(Date.now() / 86_400_000));
  const results = await Promise.all([runJest(BOTH_TIERS), runPytest(python)]);
  for (const { suite, file, name } of chooseSample(seed)) {
    console.log(`sample of test:${suite} (seed ${seed}): ${file}${name === undefined ? "" : `, ${name}`}`);
    const chosen = name === undefined ? [] : ["--testNamePattern", name];
    results.push(await runJest(["--runInBand", ...chosen, `--testMatch=**/${file}`]));
  }
  return reportResults(results);
}

/** @param {import("./lib/tests.mjs").TestResult[]} results @param {string} [unit] */
function reportResults(results, unit = "") {
  const { passed, failed, skipped } = addCounts(results);
  console.log(`${passed}${unit} passed, ${failed} failed, ${skipped} skipped`);
  return failed > 0 || passed === 0 || results.some(({ exitCode }) => exitCode !== 0) ? 1 : 0;
}

/** @param {string[]} args an area, if any, and options of jest */
async function runFaults([area = "", ...options]) {
  const result = await runJest(["--runInBand", ...options, `--testMatch=**/test/**/*${area && `${area}*`}.faults.ts`]);
  console.log(`${area || "all areas"}: ${countCases(result.report)} cases, ${result.failed} failed`);
  return result.failed > 0 || result.passed === 0 || result.exitCode !== 0 ? 1 : 0;
}

/** @param {string[]} args the commit to compare with, and options */
async function runSameBits(args) {
  const { exitCode } = await attempt(projectNode, [
    "--conditions=mrlm-source",
    join(root, "test", "same-bits", "main.ts"),
    ...args,
  ]);
  return exitCode;
}
