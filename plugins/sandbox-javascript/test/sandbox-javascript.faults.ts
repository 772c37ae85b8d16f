import { afterAll, expect, test } from "@jest/globals";
import { hostileComplaints, readCorpora } from "@mrlm/testing";
import { compareAsserts } from "./support/compare-asserts.ts";
import { comparePrograms } from "./support/compare-programs.ts";
import { makeSandbox } from "./support/make-sandbox.ts";

/** Seed of the run; FAULTS_SEED repeats a run. */
const SEED = Number(process.env["FAULTS_SEED"] ?? Date.now() % 2 ** 31);
console.log(`FAULTS_SEED=${SEED}`);
const sandbox = makeSandbox();
afterAll(() => sandbox.close());

test("S8: 7,000 pairs and errors have the verdicts of Node's assert", async () => {
  const comparison = await compareAsserts(SEED, 5000, 2000);
  expect(comparison.found).toEqual([]);
}, 600_000);

test("500 generated programs have the verdicts that they have under plain Node", async () => {
  const comparison = await comparePrograms(sandbox, SEED, 500);
  expect(comparison.found).toEqual([]);
}, 600_000);

const corpora = readCorpora(new URL("hostile/", import.meta.url)).map(({ file, programs }) => ({
  file,
  programs,
  count: programs.length,
}));
test.each(corpora)(
  "$count hostile programs of $file end as documented, and the next submission is not affected",
  async ({ programs }) => {
    expect(await hostileComplaints(sandbox, programs)).toEqual([]);
  },
  600_000,
);
