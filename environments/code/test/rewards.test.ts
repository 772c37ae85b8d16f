import { describe, expect, test } from "@jest/globals";
import { MrlmError } from "@mrlm/kit";
import type { SandboxTestResult } from "@mrlm/kit/service";
import { prepare } from "./support/environment.ts";
import { type Script, scriptedSandbox } from "./support/scripted-sandbox.ts";

const reply = "```python\ndef f(x): return x\n```";
/** Returns a result in which all tests pass but those named by position. */
const failing = (...failed: readonly number[]): Script => ({
  test: (_, { tests }) => ({
    tests: tests.map(({ name }, i): SandboxTestResult => ({ name, verdict: failed.includes(i) ? "failed" : "passed" })),
  }),
});
const graded = async (script: Script, given = {}, response = reply) => {
  const { play } = await prepare(
    { attempts: 1, families: ["strings"], difficulty_range: 4, tests: 13, ...given },
    scriptedSandbox(script),
  );
  return (await play("train/0", [response]))[0]?.rewards["agent"];
};

describe("the components of a reward", () => {
  test("everything passed", async () => {
    expect(await graded(failing())).toEqual({
      scored: true,
      value: 1,
      components: { syntax: 1, tests: 1, all_passed: 1, error: 0 },
    });
  });

  test("the share is that of the hidden tests", async () => {
    expect(await graded(failing(0, 3))).toMatchObject({ value: 0.45, components: { tests: 0.9, all_passed: 0 } });
    expect(await graded(failing(0, 1, 2))).toMatchObject({ value: 0.5, components: { tests: 1, all_passed: 0 } });
    expect(await graded(failing(3, 4, 5, 6, 7, 8, 9, 10, 11, 12))).toMatchObject({
      value: 0,
      components: { tests: 0 },
    });
  });

  test("or of all, where none is hidden", async () => {
    expect(await graded(failing(0), { visible_tests: 1 })).toMatchObject({ components: { tests: 12 / 13 } });
  });

  test("weights", async () => {
    const rewards = { all_passed: 2, tests: 1, syntax: 0.25, error: -0.5 };
    expect(await graded(failing(), { rewards })).toMatchObject({ value: 3.25 });
    const raising: Script = {
      test: (_, { tests }) => ({
        tests: tests.map(({ name }, i) =>
          i === 12
            ? { name, verdict: "failed", error: { name: "KeyError", message: "1", trace: "" } }
            : { name, verdict: "passed" },
        ),
      }),
    };
    expect(await graded(raising, { rewards })).toMatchObject({ value: 0.9 + 0.25 - 0.5, components: { error: 1 } });
  });

  test.each(["SyntaxError", "IndentationError", "TabError"])("%s is no syntax", async (name) => {
    const script: Script = {
      test: (_, { tests }) => ({
        verdict: "error",
        error: { name, message: "", trace: "" },
        tests: tests.map((each) => ({ name: each.name, verdict: "not-run" })),
      }),
    };
    expect(await graded(script)).toMatchObject({
      value: 0,
      components: { syntax: 0, tests: 0, all_passed: 0, error: 1 },
    });
  });

  test.each(["timeout", "cpu-limit", "memory-limit", "killed"] as const)(
    "%s is an error of code that can be parsed",
    async (verdict) => {
      const script: Script = {
        test: (_, { tests }) => ({
          verdict,
          tests: tests.map((each, i) => ({ name: each.name, verdict: i < 8 ? "passed" : "not-run" })),
        }),
      };
      expect(await graded(script)).toMatchObject({ value: 0.25, components: { syntax: 1, tests: 0.5, error: 1 } });
    },
  );

  test("no code is neither syntax nor run", async () => {
    expect(
      await graded(
        {
          test: () => {
            throw new Error("not to be called");
          },
        },
        {},
        "<think>hm",
      ),
    ).toMatchObject({ value: 0, components: { syntax: 0, error: 1 } });
  });
});

describe("a sandbox that fails", () => {
  test("is no verdict: the error is the host's to make unscored", async () => {
    const broken: Script = {
      test: () => {
        throw new MrlmError("SANDBOX_FAILED", "it crashed");
      },
    };
    await expect(graded(broken)).rejects.toMatchObject({ code: "SANDBOX_FAILED" });
  });
});

test("limits of the options go to the sandbox, the others are its own", async () => {
  const sandbox = scriptedSandbox(failing());
  const { play } = await prepare(
    { limits: { wall_ms: 500, memory_mb: 32, output_kb: 4 }, language: "typescript" },
    sandbox,
  );
  await play("train/0", ["```ts\nfunction f() {}\n```"]);
  expect(sandbox.submissions[0]).toMatchObject({
    dialect: "typescript",
    limits: { wallMs: 500, memoryBytes: 32 * 2 ** 20, outputBytes: 4096 },
  });
  expect(sandbox.submissions[0]?.limits).not.toHaveProperty("cpuMs");
});
