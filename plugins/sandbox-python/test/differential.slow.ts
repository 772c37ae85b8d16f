import { expect, test } from "@jest/globals";
import { findPython } from "../src/native/find-python.ts";
import { differences, programs } from "./support/differential.ts";
import { describeKinds } from "./support/kinds.ts";

const python = await findPython();

describeKinds(
  "programs in a sandbox and in one CPython",
  (sandbox) => {
    test("N4, N5, N7: containers, iterators, classes, errors, generators and context managers have the same verdicts", async () => {
      expect(await differences(sandbox(), await programs(python as Exclude<typeof python, string>, 1, 30))).toEqual([]);
    }, 600_000);
  },
  typeof python === "string" ? python : undefined,
);
