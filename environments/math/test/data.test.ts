import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "@jest/globals";
import { divide, messageText, type Task } from "@mrlm/kit";
import fc from "fast-check";
import { math } from "../src/index.ts";
import { demonstrate } from "../src/demonstrate.ts";
import { effectiveOptions } from "../src/options.ts";
import { promptOf } from "../src/prompt.ts";
import { solutionOf } from "../src/solution.ts";
import { prepare, type Prepared } from "./support/environment.ts";

const directory = mkdtempSync(join(tmpdir(), "mrlm-math-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let files = 0;
function file(...lines: unknown[]): string {
  const path = join(directory, `${files++}.jsonl`);
  writeFileSync(path, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
  return path;
}
const prepareFile = (path: string, rest = {}, options = {}): Promise<Prepared> =>
  prepare({ data: { path, eval_share: 0, ...rest }, ...options });
const first = async (path: string): Promise<Task> => (await prepareFile(path)).tasks.get("train", 0);

const GSM8K = {
  question: "Two boxes hold 600 nails each. How many nails?",
  answer: "They hold 2*600 = <<2*600=1200>>1,200 nails.\n#### 1,200",
};
const MATH = {
  problem: "What is $\\frac{1}{2}+\\frac{1}{4}$?",
  solution: "We add: $\\frac{2}{4}+\\frac{1}{4}=\\boxed{\\frac{3}{4}}$.",
  level: "Level 1",
  type: "Prealgebra",
};
const ROW = { id: "r-1", query: "Solve x + 1 = 3", answer: "2", scorer: "math@2", answer_schema: "result" };

describe("files", () => {
  test("GSM8K: the answer after ####, the steps without annotations", async () => {
    const task = await first(file(GSM8K));
    expect(task.public).toEqual({ question: GSM8K.question });
    expect(solutionOf(task)).toEqual({ answer: "1,200", steps: ["They hold 2*600 = 1,200 nails."], compare: "value" });
  });

  test("MATH: the answer in the box, level and type public", async () => {
    const task = await first(file(MATH));
    expect(task.public).toEqual({ question: MATH.problem, level: "Level 1", type: "Prealgebra" });
    expect(solutionOf(task)).toEqual({
      answer: "\\frac{3}{4}",
      steps: ["We add: $\\frac{2}{4}+\\frac{1}{4}=\\frac{3}{4}$."],
      compare: "value",
    });
  });

  test("rows: each has its own place for the answer", async () => {
    const { tasks, options, play } = await prepareFile(file(ROW, { query: "1 + 1", answer: 2 }));
    const task = await tasks.get("train", 0);
    expect(task.public).toEqual({ id: "r-1", question: ROW.query, scorer: "math@2", answer_schema: "result" });
    expect(messageText(promptOf(task, options)[0] as never)).toContain("<result>");
    expect((await play("train/0", ["<result>x = 2</result>"]))[0]?.rewards["agent"]).toMatchObject({ value: 1 });
    expect((await play("train/0", ["<answer>2</answer>"]))[0]?.rewards["agent"]).toMatchObject({ value: 0 });
    expect((await play("train/1", ["<answer>2</answer>"]))[0]?.rewards["agent"]).toMatchObject({ value: 1 });
  });

  test.each([
    ["GSM8K", GSM8K],
    ["MATH", MATH],
    ["rows", ROW],
  ])("%s: the demonstration earns the full reward", async (_name, row) => {
    for (const answer_schema of ["answer", "boxed", "gsm8k", "text"]) {
      const { context, options, play } = await prepareFile(file(row), {}, { answer_schema, rewards: { format: 0.5 } });
      const response = messageText((await demonstrate(context, options, "train/0")).messages.at(-1) as never);
      expect([response, (await play("train/0", [response]))[0]?.rewards["agent"]]).toMatchObject([
        response,
        { value: 1.5 },
      ]);
    }
  });

  test.each([
    ["a line that is not JSON", [GSM8K, "{"], ":2: the line is not JSON"],
    ["another form in between", [GSM8K, "", MATH], ":3: question:"],
    ["no known form", [{ text: "?" }], ":1: the row has none of the known forms"],
    ["GSM8K without ####", [GSM8K, { ...GSM8K, answer: "18" }], ":2: the answer has no final line `#### ANSWER`"],
    ["MATH without a box", [{ ...MATH, solution: "It is 3/4." }], ":1: the solution has no answer in \\boxed{}"],
    [
      "MATH with a box left open",
      [{ ...MATH, solution: "\\boxed{\\frac{3}{4}" }],
      ":1: the solution has no answer in \\boxed{}",
    ],
    ["an impossible place", [{ ...ROW, answer_schema: "a b" }], ":1: answer_schema:"],
    ["no answer", [{ ...ROW, answer: "" }], ":1: answer:"],
    ["no rows", ["", ""], " has no rows"],
  ])("%s is DATA_INVALID, before any task is given", async (_name, lines, fault) => {
    const path = file(...lines);
    await expect(prepareFile(path)).rejects.toMatchObject({
      code: "DATA_INVALID",
      message: expect.stringContaining(`${path}${fault}`),
    });
  });

  test("a file that is not there is DATA_INVALID", async () => {
    await expect(prepareFile(join(directory, "none.jsonl"))).rejects.toMatchObject({
      code: "DATA_INVALID",
      message: expect.stringContaining("there is no such file"),
    });
  });

  test("every scorer that a row names is required, for the first row that names it", async () => {
    const path = file(ROW, { ...ROW, scorer: "essay@1" }, { ...ROW, scorer: undefined }, { ...ROW, scorer: "essay@1" });
    const { context, options } = await prepareFile(path);
    const requires = math.requires as Exclude<typeof math.requires, readonly string[] | undefined>;
    expect(await requires(context, options)).toEqual([
      { id: "scorer:math@2", asker: "environment math@2" },
      { id: "scorer:math@2", asker: `the row ${path}:1` },
      { id: "scorer:essay@1", asker: `the row ${path}:2` },
    ]);
  });

  test.each(["families", "difficulty_range", "curriculum", "train_size"])(
    "%s has no effect beside a file, and is refused",
    (name) => {
      const value = { families: ["linear"], difficulty_range: 3, curriculum: [], train_size: 5 }[name];
      const outcome = effectiveOptions.safeParse({ data: { path: "a.jsonl" }, [name]: value });
      expect(outcome.error?.issues).toMatchObject([{ path: [name], message: expect.stringContaining("no effect") }]);
      expect(effectiveOptions.safeParse({ [name]: value }).success).toBe(true);
    },
  );

  test("the format can be given instead of recognised", async () => {
    await expect(prepareFile(file(GSM8K), { format: "math" })).rejects.toMatchObject({ code: "DATA_INVALID" });
    expect((await prepareFile(file(GSM8K), { format: "gsm8k" })).tasks.splits).toEqual({ train: 1, eval: 0 });
  });
});

describe("division of a file", () => {
  const rows = fc.array(fc.record({ question: fc.oneof(fc.stringMatching(/^[ab ]{1,4}$/), fc.string()) }), {
    minLength: 1,
  });
  const content = ({ question }: { question: string }): string => question.trim().replaceAll(/\s+/g, " ").toLowerCase();

  test("no question is on both sides, none is lost, and the order of the file does not matter", () => {
    fc.assert(
      fc.property(rows, fc.double({ min: 0, max: 1, noNaN: true }), fc.integer(), (all, share, seed) => {
        const { train, eval: held } = divide(all, share, seed);
        const trained = new Set(train.map(content));
        expect(held.filter((row) => trained.has(content(row)))).toEqual([]);
        expect(train.length + held.length).toBe(all.length);
        const turned = divide(all.toReversed(), share, seed);
        expect(new Set(turned.eval.map(content))).toEqual(new Set(held.map(content)));
        const distinct = new Set(all.map(content)).size;
        if (share > 0 && share < 1 && distinct > 1) expect(Math.min(train.length, held.length)).toBeGreaterThan(0);
      }),
    );
  });

  test("shares of 0 and 1 are all and nothing", () => {
    const all = [{ question: "a" }, { question: "b" }];
    expect(divide(all, 0, 1).train).toEqual(all);
    expect(divide(all, 1, 1).eval).toEqual(all);
  });
});
