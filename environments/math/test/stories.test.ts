import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { cases, problemOf } from "./support/cases.ts";
import { numberOf } from "./support/polynomial.ts";

/**
 * Returns the value of an expression of numbers, + - * / % and parentheses, by the JavaScript engine instead of the
 * generator.
 */
const evaluate = (expression: string): number => {
  expect(expression).toMatch(/^[-+*/%() 0-9]+$/);
  return new Function(`return ${expression}`)() as number;
};

describe("word problems and chains", () => {
  test("word problems: the answer is the value of the computation, and its numbers stand in the story", () => {
    fc.assert(
      fc.property(cases, (it) => {
        const { prose, terse, answer } = problemOf("word_problems", it);
        expect(evaluate(terse)).toBeCloseTo(numberOf(answer), 8);
        // Stories do not state 100 percent.
        for (const number of terse.match(/\d+/g)?.filter((digits) => digits !== "100") ?? [])
          expect(prose).toMatch(new RegExp(`\\b${number}\\b`));
      }),
    );
  });

  test("word problems: harder ones hold more sentences than the story needs", () => {
    const sentences = (difficulty: number): number => {
      const counts = Array.from(
        { length: 60 },
        (_, seed) => problemOf("word_problems", { seed, difficulty }).prose.split(/[.?] /).length,
      );
      return counts.reduce((sum, count) => sum + count, 0) / counts.length;
    };
    expect(sentences(5)).toBeGreaterThan(sentences(1) + 0.5);
    expect(sentences(9)).toBeGreaterThan(sentences(5) + 0.5);
  });

  test("multi-step: the answer is what following the prose gives, one step for each instruction", () => {
    fc.assert(
      fc.property(cases, (it) => {
        const { prose, terse, answer, steps } = problemOf("multi_step", it);
        const [start, ...instructions] = prose.replace(" What is the result?", "").split(/\. ?/).filter(Boolean) as [
          string,
          ...string[],
        ];
        let value = BigInt(start.replace("Start with ", ""));
        for (const instruction of instructions) value = follow(value, instruction);
        expect(answer).toBe(String(value));
        expect(steps).toHaveLength(instructions.length);
        const [first, ...signs] = terse.split(";");
        expect(evaluate(signs.reduce((before, sign) => `(${before})${sign}`, first as string))).toBe(Number(answer));
      }),
    );
  });
});

function follow(value: bigint, instruction: string): bigint {
  const n = BigInt(/\d+$/.exec(instruction)?.[0] as string);
  if (instruction.startsWith("Add ")) return value + n;
  if (instruction.startsWith("Subtract ")) return value - n;
  if (instruction.startsWith("Multiply by ")) return value * n;
  if (instruction.startsWith("Divide by ")) {
    expect(value % n).toBe(0n);
    return value / n;
  }
  expect(instruction).toMatch(/^Take the remainder of the division by \d+$/);
  return value % n;
}
