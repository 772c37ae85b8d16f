import type { RandomStream } from "@mrlm/kit";
import { primeFactors } from "../exact.ts";
import type { Problem } from "../problem.ts";
import { factorisation } from "./divisors.ts";

/** Makes a problem: the smallest prime above a number. */
export function nextPrime(random: RandomStream, difficulty: number): Problem {
  const number = random.integer(2, 15 * difficulty * difficulty);
  const steps: string[] = [];
  let candidate = number + 1;
  for (let factor = smallestFactor(candidate); factor < candidate; factor = smallestFactor(candidate)) {
    steps.push(`${factor} * ${candidate / factor} = ${candidate}, not a prime`);
    candidate++;
  }
  return {
    prose: `What is the smallest prime number greater than ${number}?`,
    terse: `nextprime(${number})`,
    answer: String(candidate),
    steps: [...steps, `${candidate} has no divisor from 2 to its square root`],
    compare: "value",
  };
}

/** Makes a problem: the largest prime that divides a number. */
export function largestPrimeFactor(random: RandomStream, difficulty: number): Problem {
  const number = random.integer(2, 10 + difficulty) * random.integer(2, 10 * difficulty);
  const factors = primeFactors(number);
  return {
    prose: `What is the largest prime factor of ${number}?`,
    terse: `maxprime(${number})`,
    answer: String(factors.at(-1)?.[0]),
    steps: [`${number} = ${factorisation(factors)}`],
    compare: "value",
  };
}

function smallestFactor(number: number): number {
  return primeFactors(number)[0]?.[0] as number;
}
