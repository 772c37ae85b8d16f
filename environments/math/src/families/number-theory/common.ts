import type { RandomStream } from "@mrlm/kit";
import { greatestCommonDivisor } from "../exact.ts";
import type { Problem } from "../problem.ts";

/** Makes a problem: the greatest common divisor of two numbers, by Euclid's algorithm. */
export function commonDivisor(random: RandomStream, difficulty: number): Problem {
  const [one, other] = pair(random, difficulty);
  return {
    prose: `What is the greatest common divisor of ${one} and ${other}?`,
    terse: `gcd(${one},${other})`,
    answer: String(greatestCommonDivisor(one, other)),
    steps: euclid(one, other),
    compare: "value",
  };
}

/** Makes a problem: the least common multiple of two numbers, from their greatest common divisor. */
export function commonMultiple(random: RandomStream, difficulty: number): Problem {
  const [one, other] = pair(random, difficulty);
  const divisor = greatestCommonDivisor(one, other);
  const multiple = (one / divisor) * other;
  return {
    prose: `What is the least common multiple of ${one} and ${other}?`,
    terse: `lcm(${one},${other})`,
    answer: String(multiple),
    steps: [
      ...euclid(one, other),
      `gcd(${one}, ${other}) = ${divisor}`,
      `${one} * ${other} / ${divisor} = ${multiple}`,
    ],
    compare: "value",
  };
}

/** Draws two numbers that have a common factor more often than independent numbers. */
function pair(random: RandomStream, difficulty: number): [number, number] {
  const factor = random.integer(1, 2 + difficulty * 3);
  const size = 4 + difficulty * difficulty;
  return [factor * random.integer(2, size), factor * random.integer(2, size)];
}

function euclid(one: number, other: number): string[] {
  const steps: string[] = [];
  for (let [a, b] = [Math.max(one, other), Math.min(one, other)]; b !== 0; [a, b] = [b, a % b])
    steps.push(`${a} mod ${b} = ${a % b}`);
  return steps;
}
