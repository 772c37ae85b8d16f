// npm run test:faults -- sandbox-python: what differential.test.ts does with 30 programs, with 500, in each kind.
import { afterAll, expect, test } from "@jest/globals";
import { findPython } from "../src/native/find-python.ts";
import { differences, programs } from "./support/differential.ts";
import { describeKinds } from "./support/kinds.ts";

const COUNT = 500;
const python = await findPython();
let [cases, failed] = [0, 0];
afterAll(() => console.log(`sandbox-python: ${cases} cases, ${failed} failed`));

describeKinds("programs in a sandbox and in one CPython", (sandbox) => {
  test(`${COUNT} programs have the same verdicts`, async () => {
    const all = await programs(python as Exclude<typeof python, string>, 2, COUNT);
    cases += all.flatMap(({ tests }) => tests).length;
    const found = await differences(sandbox(), all);
    failed += found.length;
    expect(found).toEqual([]);
  }, 3_600_000);
}, typeof python === "string" ? python : undefined);
