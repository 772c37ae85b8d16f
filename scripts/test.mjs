// npm test [-- jest options]: sets up what is missing, then runs the tests of both languages and sums their counts.
// With RETRY_FAILED=1, as CI sets it, a few files that failed are run once more, by themselves, and named.
// With --suite NAME first, it runs the files test/**/*.NAME.ts instead: longer suites, which have npm scripts of their own, one file after the other
// because they report how long things take.
import { script } from "./lib/script.mjs";
import { setup } from "./lib/setup.mjs";
import { addCounts, runJest, runPytest } from "./lib/tests.mjs";

await script(async () => {
  const args = process.argv.slice(2);
  const jestOptions = args[0] === "--suite" ? ["--runInBand", `--testMatch=**/test/**/*.${args[1]}.ts`, ...args.slice(2)] : args;
  const { python } = await setup({ dev: true });
  const retries = process.env.RETRY_FAILED === "1" ? 3 : 0;
  const results = [await runJest(jestOptions, { retries })];
  if (jestOptions.length === 0) results.push(await runPytest(python));
  const { passed, failed, skipped } = addCounts(results);
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  return failed > 0 || passed === 0 || results.some((result) => result.exitCode !== 0) ? 1 : 0;
});
