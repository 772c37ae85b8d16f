import type { RandomStream } from "@mrlm/kit";
import type { Family } from "./problem.ts";

interface Operation {
  readonly prose: string;
  readonly terse: string;
  readonly step: string;
  readonly value: number;
}

/** Bound above which the next operation reduces a value. */
const LARGE = 500;

/** Chain of operations, each on the result of the previous one: about d / 2 + 2 operations at difficulty d. */
export const multiStep: Family = {
  name: "multi_step",
  generate(random, difficulty) {
    const start = random.integer(2, 9 + 4 * difficulty);
    const operations: Operation[] = [];
    for (let i = 0; i < 2 + Math.floor(difficulty / 2); i++)
      operations.push(next(random, operations.at(-1)?.value ?? start, difficulty));
    return {
      prose: `Start with ${start}. ${operations.map(({ prose }) => `${prose}. `).join("")}What is the result?`,
      terse: [start, ...operations.map(({ terse }) => terse)].join(";"),
      answer: String(operations.at(-1)?.value),
      steps: operations.map(({ step }) => step),
      compare: "value",
    };
  },
};

function next(random: RandomStream, value: number, difficulty: number): Operation {
  const n = random.integer(2, 5 + 3 * difficulty);
  const divisors = [2, 3, 4, 5, 6, 7, 8, 9].filter((divisor) => value !== 0 && value % divisor === 0);
  const kinds = [
    add,
    subtract,
    ...(Math.abs(value) < LARGE ? [multiply] : []),
    ...(divisors.length > 0 ? [divide] : []),
    ...(difficulty >= 4 && value > n ? [rest] : []),
  ];
  const kind = random.pick(kinds);
  return kind(value, kind === divide ? random.pick(divisors) : n);
}

const add = (value: number, n: number): Operation => operation(`Add ${n}`, "+", value, n, value + n);
const subtract = (value: number, n: number): Operation => operation(`Subtract ${n}`, "-", value, n, value - n);
const multiply = (value: number, n: number): Operation => operation(`Multiply by ${n}`, "*", value, n, value * n);
const divide = (value: number, n: number): Operation => operation(`Divide by ${n}`, "/", value, n, value / n);
const rest = (value: number, n: number): Operation =>
  operation(`Take the remainder of the division by ${n}`, "%", value, n, value % n);

function operation(prose: string, sign: string, before: number, n: number, value: number): Operation {
  return { prose, terse: `${sign}${n}`, step: `${before} ${sign === "%" ? "mod" : sign} ${n} = ${value}`, value };
}
