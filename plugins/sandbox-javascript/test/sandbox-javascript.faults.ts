import { afterAll, expect, test } from "@jest/globals";
import { compareAsserts } from "./support/compare-asserts.ts";
import { comparePrograms } from "./support/compare-programs.ts";
import { makeSandbox } from "./support/make-sandbox.ts";

const sandbox = makeSandbox();
afterAll(() => sandbox.close());

const counts = { cases: 0, failed: 0 };
const count = ({ cases, failed }: { readonly cases: number; readonly failed: number }): void => {
  counts.cases += cases;
  counts.failed += failed;
};

test("S8: assertions have Node's verdict on 5,000 pairs and 2,000 errors", async () => {
  const comparison = await compareAsserts(Date.now() % 2 ** 31, 5000, 2000);
  count(comparison);
  expect(comparison.found).toEqual([]);
}, 600_000);

test("500 generated programs have the verdicts that they have under plain Node", async () => {
  const comparison = await comparePrograms(sandbox, Date.now() % 2 ** 31, 500);
  count(comparison);
  expect(comparison.found).toEqual([]);
}, 600_000);

test("the counts", () => {
  console.log(`sandbox-javascript: ${counts.cases} cases, ${counts.failed} failed`);
  expect(counts.failed).toBe(0);
});
