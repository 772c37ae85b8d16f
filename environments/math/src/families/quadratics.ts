import type { RandomStream } from "@mrlm/kit";
import { fraction } from "./exact.ts";
import { dense, operand, sum } from "./notation.ts";
import type { Family, Problem } from "./problem.ts";

/**
 * Quadratic equations with real solutions, of which the answer lists all: whole numbers; from difficulty 5 on also fractions, from
 * difficulty 8 on also surds.
 */
export const quadratics: Family = {
  name: "quadratics",
  generate(random, difficulty) {
    if (difficulty >= 8 && random.next() < 0.5) return irrational(random, difficulty);
    const size = 2 + difficulty;
    const scale = difficulty >= 5 ? random.integer(1, difficulty - 3) : 1;
    // (scale x - top)(x - root)
    const top = scale === 1 ? random.integer(-size, size) : random.integer(-size, size) * random.pick([1, scale]);
    const root = random.integer(-size, size);
    const [a, b, c] = [scale, -(top + scale * root), top * root];
    const roots = [...new Set([top / scale, root])].toSorted((one, other) => one - other);
    const written = roots.map((value) => (value === root ? String(root + 0) : fraction(top, scale)));
    return problem([a, b, c], written.join(", "), [
      `${sum([a, "x^2"], [b, "x"], [c, ""])} = (${sum([scale, "x"], [-top, ""])})(${sum([1, "x"], [-root, ""])})`,
      ...written.map((value) => `x = ${value}`),
    ]);
  },
};

/** Makes a problem: (x - p)^2 = q with a q that is no square. */
function irrational(random: RandomStream, difficulty: number): Problem {
  const p = random.integer(-difficulty, difficulty);
  const q = random.pick([2, 3, 5, 6, 7, 10, 11, 13, 14, 15]);
  const centre = p === 0 ? "" : `${p} `;
  const [low, high] = [
    p === 0 ? `-sqrt(${q})` : `${centre}- sqrt(${q})`,
    p === 0 ? `sqrt(${q})` : `${centre}+ sqrt(${q})`,
  ];
  return problem([1, -2 * p, p * p - q], `${low}, ${high}`, [
    `Complete the square: (${sum([1, "x"], [-p, ""])})^2 = ${operand(p)}^2 - ${operand(p * p - q)} = ${q}`,
    `x = ${low} or x = ${high}`,
  ]);
}

function problem([a, b, c]: readonly [number, number, number], answer: string, steps: readonly string[]): Problem {
  const equation = `${sum([a, "x^2"], [b, "x"], [c, ""])} = 0`;
  return {
    prose: `Find all solutions of ${equation}, with commas between them.`,
    terse: dense(equation),
    answer,
    steps,
    compare: "value",
  };
}
