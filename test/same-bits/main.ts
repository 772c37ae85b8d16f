// npm run test:same-bits -- BASE [--only NAME] [--tolerance 1e-5]: trains small jobs by the commit BASE and by this working tree, in real processes, and
// compares the metrics (except seconds) and the SHA-256 of every weight and optimizer tensor of every checkpoint. The runs of BASE are cached.
// --only takes the cases whose names contain it. --tolerance compares losses and gradient norms alone, within this relative bound and twenty times it.
// The last line is `same-bits: N cases, N differ`; the exit code is 1 where a case differs.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../e2e/support/mrlm.ts";
import { killAll, processTree } from "../e2e/support/process-tree.ts";
import { BaseTree } from "./base-tree.ts";
import { type Case, casesOf, configOf } from "./cases.ts";
import { compareFingerprints, type Renames } from "./compare.ts";
import { describeDifferences, largestNorm } from "./describe.ts";
import { NotThere, type Outcome, runCase } from "./run-case.ts";

/** Cases that run side by side: most of the time of each is the start of torch, on one processor. */
const AT_ONCE = 2;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string", default: "" }, tolerance: { type: "string" } },
});
const [revision, ...others] = positionals;
const tolerance = values.tolerance === undefined ? undefined : Number(values.tolerance);
if (revision === undefined || others.length > 0)
  fail("Name the commit to compare with: npm run test:same-bits -- BASE [--only NAME] [--tolerance 1e-5]");
if (tolerance !== undefined && !(tolerance > 0)) fail(`--tolerance ${values.tolerance} is not a number above 0.`);
const cases = casesOf(ROOT).filter(({ name }) => name.includes(values.only));
if (cases.length === 0)
  fail(
    `No case has "${values.only}" in its name. There are: ${casesOf(ROOT)
      .map(({ name }) => name)
      .join(", ")}`,
  );

const renames = JSON.parse(readFileSync(new URL("renames.json", import.meta.url), "utf8")) as Renames;
const began = performance.now();
const base = openBase(revision);
const output = mkdtempSync(join(tmpdir(), "mrlm-same-bits-"));
process.on("exit", () => {
  rmSync(output, { recursive: true, force: true, maxRetries: 5 });
  base.release();
});
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    killAll(processTree(process.pid).filter(({ pid }) => pid !== process.pid));
    process.exit(130);
  });
}

base.checkOut();
const cached = cases.filter((each) => existsSync(cacheFile(each)));
console.error(`base ${base.commit.slice(0, 12)}, ${cached.length} of ${cases.length} cases from the cache`);
if (cached.length < cases.length) base.setUp();
const width = Math.max(...cases.map(({ name }) => name.length));
let differing = 0;
const queue = [...cases];
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { verdict, differs } = await compareCase(next);
      if (differs) differing += 1;
      console.log(`${next.name.padEnd(width)}  ${verdict}`);
    }
  }),
);
console.error(`${((performance.now() - began) / 1000).toFixed(0)} s`);
console.log(`same-bits: ${cases.length} cases, ${differing} differ`);
process.exitCode = differing > 0 ? 1 : 0;

async function compareCase(testCase: Case): Promise<{ readonly verdict: string; readonly differs: boolean }> {
  let there: Outcome;
  let here: Outcome;
  try {
    there = await baseOutcome(testCase);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof NotThere)
      return { verdict: `new: the base lacks it and refuses its configuration: ${reason}`, differs: false };
    return { verdict: `differs: the base fails: ${reason}`, differs: true };
  }
  try {
    here = await runCase(testCase, configOf(testCase, ROOT, ROOT), ROOT, join(output, testCase.name));
  } catch (error) {
    return {
      verdict: `differs: this commit fails: ${error instanceof Error ? error.message : String(error)}`,
      differs: true,
    };
  }
  const differences = compareFingerprints(there.fingerprint, here.fingerprint, { renames, tolerance });
  if (differences.length > 0)
    return { verdict: `differs: ${describeDifferences(differences, there.run, here.run)}`, differs: true };
  const { rows, tensors } = here.fingerprint;
  if (tolerance === undefined)
    return { verdict: `same: ${rows.length} rows of metrics, ${Object.keys(tensors).length} tensors`, differs: false };
  const norm = largestNorm(compareFingerprints(there.fingerprint, here.fingerprint, { renames }), there.run, here.run);
  return {
    verdict: `same within ${tolerance}: ${rows.length} rows of metrics; largest relative norm of a tensor's difference ${norm?.toExponential(2) ?? 0}`,
    differs: false,
  };
}

/** Returns the result of the base, from the cache where it has run there before. */
async function baseOutcome(testCase: Case): Promise<Outcome> {
  const file = cacheFile(testCase);
  if (existsSync(file)) return JSON.parse(readFileSync(file, "utf8")) as Outcome;
  const config = configOf(testCase, base.directory, ROOT);
  const outcome = await runCase(testCase, config, base.directory, base.folderOf(testCase.name, config));
  writeFileSync(file, JSON.stringify(outcome));
  return outcome;
}

function cacheFile(testCase: Case): string {
  return join(base.folderOf(testCase.name, configOf(testCase, base.directory, ROOT)), "outcome.json");
}

function openBase(commit: string): BaseTree {
  try {
    return new BaseTree(ROOT, commit);
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
