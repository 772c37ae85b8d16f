import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { type JsonObject, messageText, type SandboxResult } from "@mrlm/kit";
import { demonstrate } from "../src/demonstrate.ts";
import { problemOf } from "../src/problem/problem.ts";
import { promptOf } from "../src/prompt.ts";
import { prepare, type Prepared } from "./support/environment.ts";
import { type Script, scriptedSandbox } from "./support/scripted-sandbox.ts";

const directory = mkdtempSync(join(tmpdir(), "mrlm-code-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let files = 0;
function file(...rows: unknown[]): string {
  const path = join(directory, `${files++}.jsonl`);
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join("\n"));
  return path;
}
const prepareFile = (path: string, options: JsonObject = {}, script: Script = {}): Promise<Prepared> =>
  prepare({ data: { path, eval_share: 0 }, ...options }, scriptedSandbox(script));
const asked = async ({ tasks, options }: Prepared): Promise<string> =>
  promptOf(await tasks.get("train", 0), options)
    .map(messageText)
    .join("");

const DOUBLE = {
  task_id: "Own/0",
  prompt:
    'import math\n\n\ndef half(n):\n    return n // 2\n\n\ndef double(n: int) -> int:\n    """ Twice the number.\n    >>> double(2)\n    4\n\n    double(3) ➞ 6\n    """\n',
  entry_point: "double",
  canonical_solution: "    return n * 2\n",
  test: "def check(candidate):\n    assert candidate(5) == 10\n    assert True\n    assert half(candidate(7)) == 7\n",
};
const ECHO = {
  task_id: 7,
  question: "Write the input's numbers, added up.",
  tests: [
    { input: "1 2\n", output: "3\n", visible: true },
    { input: "4 5\n", output: "9" },
  ],
  solution: "print(sum(map(int, input().split())))",
};

describe("rows in the fields of HumanEval", () => {
  test("the question is the prompt, everything else is private", async () => {
    const { tasks } = await prepareFile(file(DOUBLE));
    const { public: shown, private: hidden } = await tasks.get("train", 0);
    expect(shown).toEqual({
      question: DOUBLE.prompt,
      entry_point: "double",
      task_id: "Own/0",
      kind: "function",
      language: "python",
      visible_tests: ["double(2) should be 4", "double(3) should be 6"],
    });
    expect(hidden).toMatchObject({
      kind: "function",
      stub: { preamble: "import math\n\n\ndef half(n):\n    return n // 2\n\n\n" },
    });
  });

  test("examples of the docstring come first, are visible and do not count", async () => {
    const { tasks } = await prepareFile(file(DOUBLE));
    expect(problemOf(await tasks.get("train", 0)).tests).toMatchObject([
      { shown: "double(2) should be 4", code: '_example("double(2)", "4")', visible: true, counted: false },
      { shown: "double(3) should be 6", visible: true, counted: false },
      { shown: "assert double(5) == 10", visible: false, counted: true },
      { shown: "assert True\nassert half(double(7)) == 7", visible: false, counted: true },
    ]);
  });

  test("a test whose calls the prompt shows is visible and not paid for; one that stands on others stays where it is", async () => {
    const test =
      "def check(candidate):\n    limit = 6\n    assert candidate( 3 ) == limit\n    assert candidate(5) == 10\n    assert abs(candidate(2) - 4) < 1e-6\n    assert candidate(3) == limit\n";
    const { tasks } = await prepareFile(file({ ...DOUBLE, test }));
    expect(problemOf(await tasks.get("train", 0)).tests).toMatchObject([
      { shown: "double(3) should be 6", visible: true, counted: false },
      { shown: "assert abs(double(2) - 4) < 1e-6", visible: true, counted: true },
      { shown: "limit = 6\nassert double( 3 ) == limit", visible: false, counted: true },
      { shown: "assert double(5) == 10", visible: false, counted: true },
      { shown: "assert double(3) == limit", visible: false, counted: true },
    ]);
    expect(await asked(await prepareFile(file({ ...DOUBLE, test })))).not.toContain("Tests that");
  });

  test("a share of the tests is visible instead, and stands in the prompt", async () => {
    const prepared = await prepareFile(file(DOUBLE), { visible_tests: 0.5 });
    expect(problemOf(await prepared.tasks.get("train", 0)).tests.map(({ visible }) => visible)).toEqual([true, false]);
    expect(await asked(prepared)).toMatch(/Tests that it must pass:\n\nassert double\(5\) == 10$/);
  });

  test("a prompt may end at the head of the function", async () => {
    const problem = problemOf(
      await (
        await prepareFile(file({ ...DOUBLE, canonical_solution: null, prompt: "def double(n):" }))
      ).tasks.get("train", 0),
    );
    expect(problem).toMatchObject({ harness: expect.stringContaining(JSON.stringify("def double(n):\n    pass\n")) });
  });

  test("examples are run for feedback only", async () => {
    const names: number[] = [];
    const script: Script = {
      test: (_, { tests }) => ({
        tests: (names.push(tests.length), tests.map(({ name }) => ({ name, verdict: "failed" as const }))),
      }),
    };
    const { play } = await prepareFile(file(DOUBLE), { attempts: 2 }, script);
    await play("train/0", ["    return n", "    return n"]);
    expect(names).toEqual([4, 2]);
  });

  test("the demonstration is the function without its documentation, or its body alone", async () => {
    const path = file(DOUBLE);
    const response = async (options: JsonObject): Promise<string> => {
      const prepared = await prepareFile(path, options);
      return messageText((await demonstrate(prepared.context, prepared.options, "train/0")).messages.at(-1) as never);
    };
    // The prompt has the documentation.
    expect(await response({})).toBe("```python\ndef double(n: int) -> int:\n    return n * 2\n```");
    expect(await response({ style: "terse" })).toBe("return n * 2");
  });

  test("TypeScript is refused", async () => {
    await expect(prepareFile(file(DOUBLE), { language: "typescript" })).rejects.toMatchObject({
      code: "OPTIONS_INVALID",
    });
  });
});

describe("rows with standard input and output", () => {
  const echoing = (write: (stdin: string) => Partial<SandboxResult>): Script => ({
    run: ({ stdin = "" }) => write(stdin),
  });
  const right = (stdin: string): Partial<SandboxResult> => ({
    stdout: `${stdin
      .trim()
      .split(" ")
      .reduce((sum, n) => sum + Number(n), 0)}  \n\n`,
  });

  test("visible tests stand in the prompt where the question does not hold them", async () => {
    expect(await asked(await prepareFile(file(ECHO)))).toMatch(
      /added up\.\n\nTests that it must pass:\n\nInput:\n1 2\nOutput:\n3$/,
    );
    expect(await asked(await prepareFile(file({ ...ECHO, question: "Add: 1 2 gives 3." })))).not.toContain("Tests");
  });

  test("lines are compared without white space at their ends", async () => {
    const { play } = await prepareFile(file(ECHO), { attempts: 1 }, echoing(right));
    expect((await play("train/0", ["x"]))[0]?.rewards["agent"]).toMatchObject({ value: 1 });
  });

  test("hidden tests are paid for, and the visible one that fails is named", async () => {
    const { play } = await prepareFile(
      file(ECHO),
      { attempts: 2 },
      echoing((stdin) => (stdin.startsWith("1") ? { stdout: "4" } : right(stdin))),
    );
    const [first, second] = await play("train/0", ["x", "x"]);
    expect(first?.observation.messages.map(messageText)).toEqual([
      'It fails these tests:\n- for the input "1 2\\n" the output should be "3\\n": it wrote "4"\nTry again.',
    ]);
    expect(second?.rewards["agent"]).toMatchObject({ value: 0.5, components: { tests: 1, all_passed: 0 } });
  });

  test.each(["timeout", "memory-limit"] as const)(
    "%s ends the attempt: what comes after has failed",
    async (verdict) => {
      const { play } = await prepareFile(
        file(ECHO),
        { attempts: 1 },
        echoing(() => ({ verdict })),
      );
      expect((await play("train/0", ["x"]))[0]?.rewards["agent"]).toMatchObject({
        value: 0,
        components: { syntax: 1, tests: 0, error: 1 },
      });
    },
  );

  test("output that was cut is wrong, and so is an exit code", async () => {
    for (const worse of [{ stdoutTruncated: true }, { verdict: "error", exitCode: 3 }] as const) {
      const { play } = await prepareFile(
        file(ECHO),
        { attempts: 1 },
        echoing((stdin) => ({ ...right(stdin), ...worse })),
      );
      expect((await play("train/0", ["x"]))[0]?.rewards["agent"]).toMatchObject({ value: 0 });
    }
  });

  test("a right answer is never cut, however little output is allowed", async () => {
    const output = "ü".repeat(700);
    const sandbox = scriptedSandbox({});
    const { play } = await prepare(
      { data: { path: file({ ...ECHO, tests: [...ECHO.tests, { input: "", output }] }), eval_share: 0 }, attempts: 1 },
      sandbox,
    );
    await play("train/0", ["x"]);
    expect(sandbox.submissions.map(({ limits }) => limits?.outputBytes)).toEqual([1_000, 1_000, 2_800]);
  });

  test("numbers may differ by the tolerance of the row", async () => {
    for (const [tolerance, value] of [
      [1e-6, 1],
      [0, 0],
    ] as const) {
      const row = { ...ECHO, tolerance, tests: [{ input: "", output: "case 1: 0.3333333 1e2" }] };
      const { play } = await prepareFile(
        file(row),
        { attempts: 1 },
        echoing(() => ({ stdout: "case 1: 0.33333333333 100.00001" })),
      );
      expect((await play("train/0", ["x"]))[0]?.rewards["agent"]).toMatchObject({ value });
    }
  });

  test("feedback has no error that a hidden input may have caused", async () => {
    const { play } = await prepareFile(
      file({ ...ECHO, tests: ECHO.tests.slice(1) }),
      { attempts: 2 },
      echoing((stdin) => ({ verdict: "error", error: { name: "SyntaxError", message: stdin, trace: stdin } })),
    );
    expect((await play("train/0", ["x"]))[0]?.observation.messages.map(messageText)).toEqual([
      "The code cannot be parsed.\nTry again.",
    ]);
  });

  test("a row without a solution has no demonstration", async () => {
    const { context, options } = await prepareFile(file({ ...ECHO, solution: null }));
    await expect(demonstrate(context, options, "train/0")).rejects.toMatchObject({ code: "DATA_INVALID" });
  });
});

describe("faults of a file are reported before the first task", () => {
  test.each([
    ["an unknown form", [{ text: "" }], ":1: the row has none of the known forms"],
    ["another form in between", [DOUBLE, ECHO], ":2: prompt:"],
    ["a prompt without the function", [{ ...DOUBLE, entry_point: "treble" }], ":1: the prompt does not define treble"],
    ["a prompt that is no Python", [{ ...DOUBLE, prompt: "def double(n:\n" }], ":1: the prompt does not define double"],
    ["no check", [{ ...DOUBLE, test: "assert double(1) == 2" }], ":1: the test has no function check(candidate)"],
    [
      "a check of nothing",
      [{ ...DOUBLE, test: "def check(candidate):\n    assert True" }],
      ":1: the test has no function check(candidate)",
    ],
    [
      "a lambda for an argument",
      [{ ...DOUBLE, test: "def check(candidate):\n    assert candidate(lambda x: x, 1) == 2" }],
      ":1: a test hands a function to double",
    ],
    [
      "a function of the tests for an argument",
      [
        {
          ...DOUBLE,
          test: "def key(x):\n    return x\n\ndef check(candidate):\n    assert candidate(key(1)) == 2\n    assert candidate(1, key=key) == 2",
        },
      ],
      ":1: a test hands a function to double",
    ],
    [
      "a solution that is no Python",
      [{ ...DOUBLE, canonical_solution: "    return (n" }],
      ":1: the canonical solution does not continue the prompt",
    ],
    ["no tests", [{ ...ECHO, tests: [] }], ":1: tests:"],
    [
      "another language",
      [{ ...ECHO, language: "typescript" }],
      ":1: the row is for typescript, and solutions are asked in python",
    ],
  ])("%s", async (_name, rows, fault) => {
    const path = file(...rows);
    await expect(prepareFile(path)).rejects.toMatchObject({
      code: "DATA_INVALID",
      message: expect.stringContaining(`${path}${fault}`),
    });
  });
});
