import { fraction } from "./exact.ts";
import { dense, sum } from "./notation.ts";
import type { Family } from "./problem.ts";

/** Linear equations in one unknown, a x + b = c x + d; from difficulty 5 on the solution may be a fraction. */
export const linear: Family = {
  name: "linear",
  generate(random, difficulty) {
    const size = 2 + difficulty * 2;
    const fractional = difficulty >= 5 && random.next() < 0.5;
    const c = difficulty < 3 ? 0 : random.integer(-size, size);
    let a = random.integer(1, size);
    if (a === c) a += 1;
    const b = random.integer(-size, size);
    const slope = a - c;
    const numerator = fractional ? random.integer(-size, size) : slope * random.integer(-size, size);
    const d = b + numerator;
    const left = sum([a, "x"], [b, ""]);
    const right = sum([c, "x"], [d, ""]);
    const answer = fraction(numerator, slope);
    return {
      prose: `Solve for x: ${left} = ${right}.`,
      terse: dense(`${left}=${right}`),
      answer,
      steps: [`${sum([slope, "x"])} = ${numerator}`, `x = ${answer}`],
      compare: "value",
    };
  },
};
