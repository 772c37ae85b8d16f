import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { cases, problemOf } from "./support/cases.ts";
import { numberOf, valueAt } from "./support/polynomial.ts";

describe("algebra", () => {
  test("systems: the answer satisfies every equation, and there is one for each unknown", () => {
    fc.assert(
      fc.property(cases, (it) => {
        const { terse, answer } = problemOf("systems", it);
        const solution = answer.slice(1, -1).split(", ").map(numberOf);
        const values = Object.fromEntries(
          ["x", "y", "z"].slice(0, solution.length).map((name, i) => [name, solution[i] as number]),
        );
        const equations = terse.split(";").map((equation) => equation.split("=") as [string, string]);
        expect(equations).toHaveLength(solution.length);
        for (const [left, right] of equations) expect(valueAt(left, values)).toBeCloseTo(Number(right), 8);
      }),
    );
  });

  test("systems: the solution is the only one", () => {
    fc.assert(
      fc.property(cases, (it) => {
        const sides = problemOf("systems", it)
          .terse.split(";")
          .map((equation) => equation.split("=")[0] as string);
        const names = ["x", "y", "z"].slice(0, sides.length);
        const rows = sides.map((side) => names.map((name) => valueAt(side, { x: 0, y: 0, z: 0, [name]: 1 })));
        expect(determinant(rows)).not.toBe(0);
      }),
    );
  });

  test("quadratics: the answer lists every root, each once", () => {
    fc.assert(
      fc.property(cases, (it) => {
        const { terse, answer } = problemOf("quadratics", it);
        const [left, right] = terse.split("=") as [string, string];
        expect(right).toBe("0");
        const at = (x: number): number => valueAt(left, { x });
        const roots = answer.split(", ").map(numberOf);
        for (const root of roots) expect(at(root)).toBeCloseTo(0, 8);
        const [c, a] = [at(0), (at(1) + at(-1)) / 2 - at(0)];
        const b = at(1) - a - c;
        const discriminant = b * b - 4 * a * c;
        expect(discriminant).toBeGreaterThanOrEqual(0);
        expect(new Set(roots).size).toBe(discriminant === 0 ? 1 : 2);
      }),
    );
  });

  test("inequalities: the answer holds at exactly the points at which the question holds", () => {
    fc.assert(
      fc.property(cases, (it) => {
        const { terse, answer } = problemOf("inequalities", it);
        const [, left, relation, right] = /^(.+?)(<=|>=|<|>)(.+)$/.exec(terse) as unknown as [
          string,
          string,
          string,
          string,
        ];
        const ends = answer.match(/-?\d+(\/\d+)?/g)?.map(numberOf) as number[];
        const points = ends.flatMap((end) => [end - 1000, end - 0.5, end - 1e-3, end + 1e-3, end + 0.5, end + 1000]);
        // At the ends themselves rounding could tip the balance, unless they are whole.
        for (const x of [...points, ...ends.filter(Number.isInteger)]) {
          expect([x, satisfies(answer, x)]).toEqual([x, holds(valueAt(left, { x }), relation, valueAt(right, { x }))]);
        }
      }),
    );
  });
});

function determinant(rows: readonly (readonly number[])[]): number {
  const [first, ...rest] = rows as [readonly number[], ...(readonly number[])[]];
  if (rest.length === 0) return first[0] as number;
  return first.reduce(
    (sum, value, i) =>
      sum + (i % 2 === 0 ? 1 : -1) * value * determinant(rest.map((row) => row.filter((_, j) => j !== i))),
    0,
  );
}

function holds(left: number, relation: string, right: number): boolean {
  if (relation === "<") return left < right;
  if (relation === "<=") return left <= right;
  return relation === ">" ? left > right : left >= right;
}

/** Whether x satisfies `x < 3`, `-2 < x <= 3`, or either part of `x < -2 or x > 3`. */
function satisfies(answer: string, x: number): boolean {
  return answer.split(" or ").some((part) => {
    const words = part.split(" ");
    const value = (word: string | undefined): number => (word === "x" ? x : numberOf(word as string));
    for (let i = 0; i + 2 < words.length; i += 2)
      if (!holds(value(words[i]), words[i + 1] as string, value(words[i + 2]))) return false;
    return true;
  });
}
