import type { RandomStream } from "@mrlm/kit";
import { divisorsOf, primeFactors } from "../exact.ts";
import type { Problem } from "../problem.ts";

/** Makes a problem: the number of divisors of a number: the product of its exponents, each plus one. */
export function divisorCount(random: RandomStream, difficulty: number): Problem {
  const number = random.integer(4, 30 * difficulty);
  const factors = primeFactors(number);
  const count = divisorsOf(number).length;
  return {
    prose: `How many positive divisors does ${number} have?`,
    terse: `divisors(${number})`,
    answer: String(count),
    steps: [
      `${number} = ${factorisation(factors)}`,
      `${factors.map(([, exponent]) => `(${exponent} + 1)`).join(" * ")} = ${count}`,
    ],
    compare: "value",
  };
}

/** Makes a problem: the sum of a number's divisors. */
export function divisorSum(random: RandomStream, difficulty: number): Problem {
  const number = random.integer(6, 25 * difficulty);
  const divisors = divisorsOf(number);
  const total = divisors.reduce((one, other) => one + other, 0);
  return {
    prose: `What is the sum of all positive divisors of ${number}, ${number} included?`,
    terse: `divisorsum(${number})`,
    answer: String(total),
    steps: [`The divisors of ${number}: ${divisors.join(", ")}`, `${divisors.join(" + ")} = ${total}`],
    compare: "value",
  };
}

/** Formats a factorization: `2^2 * 3`. */
export function factorisation(factors: readonly (readonly [prime: number, exponent: number])[]): string {
  return factors.map(([prime, exponent]) => (exponent === 1 ? String(prime) : `${prime}^${exponent}`)).join(" * ");
}
