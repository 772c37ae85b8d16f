import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { makeSandbox } from "./support/make-sandbox.ts";

/** More submissions than a child could serve if each left a context: it would grow by 64 MB and be replaced. */
const SUBMISSIONS = 250;

const childProcesses = (): string[] =>
  readdirSync("/proc/self/task").flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, "latin1").split(" ").filter(Boolean),
  );

(existsSync("/proc/self/task") ? test : test.skip)("one child serves hundreds of tests: it does not grow", async () => {
  const sandbox = makeSandbox({ pool: { children: 1 } });
  try {
    await sandbox.warm();
    const before = childProcesses();
    const suite = { entryPoints: ["f"], tests: [{ name: "adds", code: "assert.deepEqual(f(1), [2]);" }] };
    const reports = await Promise.all(
      Array.from({ length: SUBMISSIONS }, () => sandbox.test({ code: "const f = (x) => [x + 1];" }, suite)),
    );
    expect(reports.filter(({ tests }) => tests[0]?.verdict !== "passed")).toEqual([]);
    expect(childProcesses()).toEqual(before);
  } finally {
    await sandbox.close();
  }
});
