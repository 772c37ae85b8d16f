import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { cases, problemOf as problem } from "./support/cases.ts";

/** Returns the value of an expression of +, -, * and parentheses, by the JavaScript engine instead of the generator. */
const evaluate = (expression: string): number => {
  expect(expression).toMatch(/^[-+*() 0-9]+$/);
  return new Function(`return ${expression}`)() as number;
};

describe("families", () => {
  test("arithmetic: the answer is the value of the question, in both styles", () => {
    fc.assert(
      fc.property(cases, (it) => {
        const { prose, terse, answer } = problem("arithmetic", it);
        expect(evaluate(prose.replace("What is ", "").replace("?", ""))).toBe(Number(answer));
        expect(evaluate(terse)).toBe(Number(answer));
      }),
    );
  });

  test("linear: the answer satisfies the equation and is in lowest terms", () => {
    fc.assert(
      fc.property(cases, (it) => {
        const { terse, answer } = problem("linear", it);
        const [top, bottom = 1] = answer.split("/").map(Number) as [number, number?];
        const x = `(${top})`;
        // Multiply both sides by the denominator to make the check exact: the constants contain it as a factor.
        const [left, right] = terse.split("=").map((side) => scaled(side, bottom, x)) as [number, number];
        expect(left).toBe(right);
        expect(bottom).toBeGreaterThan(0);
      }),
    );
  });

  test("ordering: the answer has the same digits, ascending, one more than the difficulty", () => {
    fc.assert(
      fc.property(cases, (it) => {
        const { terse, answer } = problem("ordering", it);
        const given = terse.replace("sort ", "");
        expect(answer).toHaveLength(it.difficulty + 1);
        expect([...answer].toSorted()).toEqual([...given].toSorted());
        expect([...answer].every((digit, i) => i === 0 || digit >= (answer[i - 1] as string))).toBe(true);
      }),
    );
  });
});

/** Returns `bottom` times a side `a x + b` at x = top / bottom. */
function scaled(side: string, bottom: number, top: string): number {
  const match = /^(?:(-?\d*)x)?([-+]?\d+)?$/.exec(side) as RegExpExecArray;
  const coefficient = match[1] === undefined ? 0 : match[1] === "" ? 1 : match[1] === "-" ? -1 : Number(match[1]);
  return coefficient * evaluate(top) + Number(match[2] ?? 0) * bottom;
}
