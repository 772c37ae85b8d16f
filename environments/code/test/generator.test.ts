import { stripTypeScriptTypes } from "node:module";
import { describe, expect, test } from "@jest/globals";
import { randomStream } from "@mrlm/kit";
import fc from "fast-check";
import { referenceAnswer } from "../src/demonstrate.ts";
import { FAMILIES, FAMILY_NAMES } from "../src/generator/families/index.ts";
import { generatedProblem, type ProblemRequest, terseSketch } from "../src/generator/generated-problem.ts";
import { generatorTasks } from "../src/generator/generator-tasks.ts";
import { codeOptions } from "../src/options.ts";
import type { FunctionProblem } from "../src/problem/problem.ts";

const AsyncFunction = (async () => {}).constructor as new (code: string) => () => Promise<void>;

const requests = fc.record({
  seed: fc.integer(),
  difficulty: fc.integer({ min: 1, max: 10 }),
  style: fc.constantFrom("prose" as const, "terse" as const),
});

function problemOf(
  family: (typeof FAMILY_NAMES)[number],
  language: ProblemRequest["language"],
  { seed, difficulty, style }: { seed: number; difficulty: number; style: ProblemRequest["style"] },
): FunctionProblem {
  const request = { family: FAMILIES[family], difficulty, language, style, tests: 13, visibility: "examples" as const };
  return generatedProblem(randomStream(family, seed), request).problem as FunctionProblem;
}

describe.each(FAMILY_NAMES)("%s", (family) => {
  test.each(["python", "typescript"] as const)("a demonstration in %s leaves the documentation out", (language) => {
    const problem = problemOf(family, language, { seed: 3, difficulty: 4, style: "prose" });
    const answer = referenceAnswer(problem, codeOptions.parse({ language })) as string;
    expect(problem.stub.head).toMatch(/"""|\/\*\*/);
    expect(answer).not.toMatch(/"""|\*\/|>>>/);
    const [, code] = /^```\w+\n([^]*)\n```$/.exec(answer) ?? [];
    // All other lines are those of the reference.
    const lines = problem.reference?.trimEnd().split("\n") ?? [];
    expect(lines.join("\n").endsWith(code?.split("\n").slice(1).join("\n") ?? "none")).toBe(true);
    expect(lines).toContain(code?.split("\n")[0]);
  });

  // Our own code, not a model's: references run here what the sandbox runs of submissions.
  test("the reference in TypeScript passes the tests, which come from another implementation", async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const { harness, reference, tests } = problemOf(family, "typescript", request);
        await new AsyncFunction(
          [harness, stripTypeScriptTypes(reference as string), ...tests.map(({ code }) => code)].join("\n"),
        )();
      }),
      { numRuns: 20 },
    );
  });

  test("both languages and styles have the same tests, and no constant passes most of them", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const [python, typescript] = [problemOf(family, "python", request), problemOf(family, "typescript", request)];
        expect(python.tests).toHaveLength(typescript.tests.length);
        expect(python.tests.length).toBeGreaterThanOrEqual(8);
        const results = python.tests.map(({ shown }) => shown.split(" should be ")[1]);
        const alike = results.map((result) => results.filter((other) => other === result).length);
        expect(Math.max(...alike)).toBeLessThanOrEqual(0.6 * results.length);
        expect(python.tests.map(({ visible }) => visible)).toEqual(results.map((_, i) => i < 3));
      }),
      { numRuns: 20 },
    );
  });

  test("nothing that Python and TypeScript see differently is in a test: integers are exact in both, texts are ASCII", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const code = problemOf(family, "typescript", request)
          .tests.map((each) => each.code)
          .join("");
        expect(code).toMatch(/^[ -~]*$/);
        const numbers = code.replaceAll(/"[^"]*"/g, "").match(/\d+/g) ?? [];
        expect(Math.max(0, ...numbers.map(Number))).toBeLessThan(2 ** 53);
      }),
      { numRuns: 20 },
    );
  });
});

describe("the tasks", () => {
  const publicOf = async (given: object, split: string, count: number) => {
    const tasks = generatorTasks(codeOptions.parse(given));
    return Promise.all(
      Array.from(
        { length: count },
        async (_, i) => (await tasks.get(split, i)).public as { family: string; difficulty: number; question: string },
      ),
    );
  };

  test("there are thousands of different ones", async () => {
    const questions = (await publicOf({}, "train", 2_000)).map(({ question }) => question);
    expect(new Set(questions).size).toBeGreaterThan(1_800);
  });

  test("families and difficulties are those of the options, also of the eval split", async () => {
    const given = { families: { strings: 1, lists: 3, words: 0 }, difficulty_range: [2, 3], eval_difficulty_range: 7 };
    const train = await publicOf(given, "train", 400);
    expect(new Set(train.map(({ difficulty }) => difficulty))).toEqual(new Set([2, 3]));
    expect(train.filter(({ family }) => family === "lists").length / 400).toBeCloseTo(0.75, 1);
    expect(new Set((await publicOf(given, "eval", 50)).map(({ difficulty }) => difficulty))).toEqual(new Set([7]));
  });

  test("D7: no terse question has two meanings", () => {
    const meanings = new Map<string, string>();
    for (const family of FAMILY_NAMES)
      for (let difficulty = 1; difficulty <= 10; difficulty++) {
        const random = randomStream(family, difficulty);
        for (let i = 0; i < 150; i++) {
          const { prose, ...sketch } = FAMILIES[family].generate(random, difficulty);
          const { terse, parameters } = terseSketch({ prose, ...sketch });
          const question = `f(${parameters.map(([name]) => name).join(",")}):${terse}`;
          expect([question, meanings.get(question) ?? prose]).toEqual([question, prose]);
          meanings.set(question, prose);
        }
      }
  });

  test.each([
    ["strings", "f(x):text,"],
    ["matrices", "f(x):sort rows,"],
    ["arithmetic", "f(x,y):6*(x+y)"],
    ["number_theory", "f(x):sum 1..x "],
  ])("a terse question of %s begins, as the policy reads it, with %s", async (family, start) => {
    const questions = await publicOf(
      { families: [family], style: "terse", difficulty_range: [1, 4], tests: 8 },
      "train",
      400,
    );
    expect(questions.map(({ question }) => question).find((question) => question.startsWith(start))).toBeDefined();
    expect(questions.filter(({ question }) => /:x,|rows? x|sort x/.test(question))).toEqual([]);
  });

  test("D7: no question of eval stands in train, whatever its style and difficulty", async () => {
    for (const difficulty of [1, 3]) {
      const given = { style: "terse", difficulty_range: difficulty, tests: 8 };
      const train = new Set((await publicOf(given, "train", 1_500)).map(({ question }) => question));
      const held = (await publicOf(given, "eval", 300)).map(({ question }) => question);
      expect(held.filter((question) => train.has(question))).toEqual([]);
    }
  });

  test("the same problem is on the same side in every language and style", async () => {
    const train = new Set(
      (await publicOf({ families: ["digits"], difficulty_range: 1 }, "train", 300)).map(({ question }) =>
        /"""(.*?)>>>/s.exec(question)?.[1]?.replaceAll(/\s+/g, " "),
      ),
    );
    const held = (
      await publicOf({ families: ["digits"], difficulty_range: 1, language: "typescript" }, "eval", 300)
    ).map(({ question }) => /\/\*\*(.*?)rework/s.exec(question)?.[1]?.replaceAll(/[\s*]+/g, " "));
    expect(held.filter((text) => text !== undefined && train.has(text))).toEqual([]);
  });
});
