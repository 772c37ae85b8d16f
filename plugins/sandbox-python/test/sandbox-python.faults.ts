// npm run test:faults -- sandbox-python: all hostile programs, and the comparison of differential.test.ts with 500 programs instead of 30, in each kind.
import { expect, test } from "@jest/globals";
import { hostileComplaints, readCorpora } from "@mrlm/testing";
import { findPython } from "../src/native/find-python.ts";
import { differences, programs } from "./support/differential.ts";
import { describeKinds } from "./support/kinds.ts";

const COUNT = 500;
const python = await findPython();

describeKinds(
  "programs in a sandbox and in one CPython",
  (sandbox) => {
    test(`${COUNT} programs have the same verdicts as under CPython`, async () => {
      const all = await programs(python as Exclude<typeof python, string>, 2, COUNT);
      expect(await differences(sandbox(), all)).toEqual([]);
    }, 3_600_000);
  },
  typeof python === "string" ? python : undefined,
);

const corpora = readCorpora(new URL("hostile/", import.meta.url)).map(({ file, programs }) => ({
  file,
  programs,
  count: programs.length,
}));

describeKinds("all hostile programs", (sandbox) => {
  test.each(corpora)(
    "$count programs of $file end as documented, and the next submission is not affected",
    async ({ programs }) => {
      expect(await hostileComplaints(sandbox(), programs)).toEqual([]);
    },
    600_000,
  );
});
