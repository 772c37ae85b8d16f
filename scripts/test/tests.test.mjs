import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { root } from "../lib/repository.mjs";
import { addCounts, countCases, countJest, countJunit, jestDurations, junitDurations } from "../lib/tests.mjs";

describe("test counts", () => {
  test("a file that jest could not load counts as a failure", () => {
    const report = {
      numPassedTests: 3,
      numFailedTests: 1,
      numPendingTests: 2,
      numTodoTests: 1,
      numRuntimeErrorTestSuites: 1,
    };
    expect(countJest(report)).toEqual({ passed: 3, failed: 2, skipped: 3 });
  });

  test("cases are the numbers that titles begin with, of tests that passed", () => {
    const tests = ["5,000 pairs", "S8: 40 programs", "one attack"].map((title) => ({ status: "passed", title }));
    const assertionResults = [...tests, { status: "failed", title: "7 frames" }];
    expect(countCases({ testResults: [{ assertionResults }] })).toBe(5041);
  });

  test("pytest errors count as failures, and the rest has passed", () => {
    const xml =
      '<?xml version="1.0"?><testsuites name="pytest tests"><testsuite name="pytest" errors="1" failures="2" ' +
      'skipped="3" tests="10" time="0.1"><testcase name="a"/></testsuite></testsuites>';
    expect(countJunit(xml)).toEqual({ passed: 4, failed: 3, skipped: 3 });
  });

  test("durations are in seconds", () => {
    const assertionResults = [{ fullName: "a", duration: 1500 }, { fullName: "b" }];
    expect(jestDurations({ testResults: [{ name: join(root, "x.test.ts"), assertionResults }] })).toEqual([
      { title: "x.test.ts: a", seconds: 1.5 },
      { title: "x.test.ts: b", seconds: 0 },
    ]);
    expect(
      junitDurations('<testsuite time="9"><testcase classname="tests.x" name="a" time="1.5" /></testsuite>'),
    ).toEqual([{ title: "tests.x: a", seconds: 1.5 }]);
  });

  test("both languages are summed", () => {
    const results = [
      { passed: 1, failed: 0, skipped: 2, exitCode: 0 },
      { passed: 10, failed: 1, skipped: 0, exitCode: 1 },
    ];
    expect(addCounts(results)).toEqual({ passed: 11, failed: 1, skipped: 2 });
  });
});
