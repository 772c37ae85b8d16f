import type { RandomStream } from "@mrlm/kit";
import { fraction } from "./exact.ts";
import { dense, operand, sum } from "./notation.ts";
import type { Family, Problem } from "./problem.ts";

/**
 * Systems of linear equations with one solution: two unknowns, whose values may be fractions from difficulty 6 on; from difficulty 9 on
 * three, in triangular form.
 */
export const systems: Family = {
  name: "systems",
  generate: (random, difficulty) =>
    difficulty >= 9 ? threeUnknowns(random, difficulty) : twoUnknowns(random, difficulty),
};

function twoUnknowns(random: RandomStream, difficulty: number): Problem {
  const size = 1 + difficulty;
  const [a, b] = [random.integer(1, size), nonzero(random, size)];
  const [c, slope] = [random.integer(1, size), nonzero(random, size)];
  const d = a * slope === b * c ? -slope : slope;
  const determinant = a * d - b * c;
  const whole = difficulty < 6 || random.next() < 0.5;
  const [x, y] = [random.integer(-size, size), random.integer(-size, size)];
  const [e, f] = whole ? [a * x + b * y, c * x + d * y] : [random.integer(-9, 9), random.integer(-9, 9)];
  const [top, other] = [e * d - b * f, a * f - e * c];
  return problem(
    [sum([a, "x"], [b, "y"]), sum([c, "x"], [d, "y"])],
    [e, f],
    ["x", "y"],
    `(${fraction(top, determinant)}, ${fraction(other, determinant)})`,
    [
      `Eliminate y: ${d} times the first equation minus ${operand(b)} times the second gives ${sum([determinant, "x"])} = ${top}`,
      `x = ${fraction(top, determinant)}`,
      `Eliminate x: ${a} times the second equation minus ${c} times the first gives ${sum([determinant, "y"])} = ${other}`,
      `y = ${fraction(other, determinant)}`,
    ],
  );
}

function threeUnknowns(random: RandomStream, difficulty: number): Problem {
  const size = difficulty - 4;
  const [x, y, z] = [random.integer(-size, size), random.integer(-size, size), random.integer(-size, size)];
  const coefficients = Array.from({ length: 6 }, () => nonzero(random, size)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [a, b, c, d, e, f] = coefficients;
  const left = [sum([a, "x"], [b, "y"], [c, "z"]), sum([d, "y"], [e, "z"]), sum([f, "z"])];
  const right = [a * x + b * y + c * z, d * y + e * z, f * z] as const;
  return problem(left, right, ["x", "y", "z"], `(${x}, ${y}, ${z})`, [
    `z = ${z}`,
    `${sum([d, "y"])} = ${right[1]} - ${operand(e * z)} = ${d * y}`,
    `y = ${y}`,
    `${sum([a, "x"])} = ${right[0]} - ${operand(b * y)} - ${operand(c * z)} = ${a * x}`,
    `x = ${x}`,
  ]);
}

function problem(
  left: readonly string[],
  right: readonly number[],
  names: readonly string[],
  answer: string,
  steps: readonly string[],
): Problem {
  const equations = left.map((side, i) => `${side} = ${right[i]}`);
  const unknowns = `(${names.join(", ")})`;
  return {
    prose: `Solve the system ${equations.join(", ")} for ${unknowns}.`,
    terse: `${equations.map(dense).join(";")}`,
    answer,
    steps,
    compare: "value",
  };
}

/** Draws a whole number other than 0. */
function nonzero(random: RandomStream, size: number): number {
  return random.integer(1, size) * random.pick([1, -1]);
}
