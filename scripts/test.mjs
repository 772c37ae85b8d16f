// npm test [-- jest options]: installs and builds missing parts, then runs the tests of both languages and sums their counts.
// With --suite NAME first, it runs a part or a longer suite instead, which has an npm script of its own:
//   engine           the Python tests of the engine alone
//   faults [AREA]    the files test/**/*.faults.ts, or those of an area: thousands of cases of each class of fault
//   same-bits BASE   trains small jobs by this commit and by another, and compares the results to the last bit
//   interop          the clients of other frameworks against one server; the last line counts clients
//   any other        the files test/**/*.NAME.ts, one after the other because they report durations
import { join } from "node:path";
import { root } from "./lib/repository.mjs";
import { attempt, projectNode, run } from "./lib/run.mjs";
import { script } from "./lib/script.mjs";
import { setup } from "./lib/setup.mjs";
import useTemporaryFolder from "./lib/temporary-folder.mjs";
import { addCounts, countCases, runJest, runPytest } from "./lib/tests.mjs";

/**
 * Python packages that a suite compares with.
 * @type {Record<string, string>}
 */
const PEERS = {
  parity: "benchmarks/train/peers/requirements.txt",
};

await script(async () => {
  const args = process.argv.slice(2);
  const suite = args[0] === "--suite" ? args[1] : undefined;
  const rest = suite === undefined ? args : args.slice(2);
  const { python } = await setup({ dev: true });
  useTemporaryFolder();
  if (suite === "faults") return await runFaults(rest);
  if (suite === "same-bits") return await runSameBits(rest);
  const results = await runTests(python, suite, rest);
  const { passed, failed, skipped } = addCounts(results);
  console.log(`${passed}${suite === "interop" ? " clients" : ""} passed, ${failed} failed, ${skipped} skipped`);
  return failed > 0 || passed === 0 || results.some(({ exitCode }) => exitCode !== 0) ? 1 : 0;
});

/**
 * `--testMatch` stands last: jest takes each word after it as one more pattern, and would run every file.
 * @param {string} python @param {string | undefined} suite @param {string[]} options
 */
async function runTests(python, suite, options) {
  if (suite === "engine") return [await runPytest(python, options)];
  const requirements = suite === undefined ? undefined : PEERS[suite];
  if (requirements !== undefined) {
    const { stdout } = await run(
      python,
      ["benchmarks/train/peers/setup_environment.py", "--requirements", join(root, requirements)],
      { stdout: "capture" },
    );
    process.env.MRLM_PEER_PYTHON = stdout.trim().split("\n").at(-1);
  }
  if (suite !== undefined) return [await runJest(["--runInBand", ...options, `--testMatch=**/test/**/*.${suite}.ts`])];
  if (options.length > 0) return [await runJest(options)];
  // Run both at the same time: tests of processes wait more than they compute.
  return await Promise.all([runJest([]), runPytest(python)]);
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
