import type { RandomStream } from "@mrlm/kit";
import { fraction } from "./exact.ts";
import { dense, sum } from "./notation.ts";
import type { Family, Problem } from "./problem.ts";

const RELATIONS = ["<", "<=", ">", ">="] as const;
const TURNED = { "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;

/** Linear inequalities in x; from difficulty 7 also quadratic ones with two whole zeros. */
export const inequalities: Family = {
  name: "inequalities",
  generate: (random, difficulty) =>
    difficulty >= 7 && random.next() < 0.6 ? quadratic(random, difficulty) : linear(random, difficulty),
};

function linear(random: RandomStream, difficulty: number): Problem {
  const size = 2 + 2 * difficulty;
  const relation = random.pick(RELATIONS);
  const c = difficulty < 3 ? 0 : random.integer(-size, size);
  const slope = random.integer(1, size) * (difficulty < 4 ? 1 : random.pick([1, -1]));
  const b = random.integer(-size, size);
  const numerator = difficulty < 5 ? slope * random.integer(-size, size) : random.integer(-size, size);
  const answer = `x ${slope < 0 ? TURNED[relation] : relation} ${fraction(numerator, slope)}`;
  const turn = slope < 0 ? `, and dividing by ${slope} turns the sign` : "";
  return problem(`${sum([c + slope, "x"], [b, ""])} ${relation} ${sum([c, "x"], [b + numerator, ""])}`, answer, [
    `${sum([slope, "x"])} ${relation} ${numerator}${turn}`,
    answer,
  ]);
}

function quadratic(random: RandomStream, difficulty: number): Problem {
  const relation = random.pick(RELATIONS);
  const low = random.integer(-difficulty, difficulty);
  const high = low + random.integer(1, difficulty);
  const between = relation.startsWith("<");
  const weak = relation.endsWith("=") ? "=" : "";
  const answer = between ? `${low} <${weak} x <${weak} ${high}` : `x <${weak} ${low} or x >${weak} ${high}`;
  return problem(`${sum([1, "x^2"], [-low - high, "x"], [low * high, ""])} ${relation} 0`, answer, [
    `The zeros are ${low} and ${high}; the parabola opens upwards, so it lies ${between ? "below" : "above"} 0 ${between ? "between" : "outside"} them`,
    answer,
  ]);
}

function problem(inequality: string, answer: string, steps: readonly string[]): Problem {
  return { prose: `Solve for x: ${inequality}.`, terse: dense(inequality), answer, steps, compare: "value" };
}
