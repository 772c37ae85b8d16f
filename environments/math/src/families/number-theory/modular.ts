import type { RandomStream } from "@mrlm/kit";
import type { Problem } from "../problem.ts";

/** Makes a problem: the remainder of a division. */
export function remainder(random: RandomStream, difficulty: number): Problem {
  const modulus = random.integer(2, 3 + difficulty * 4);
  const number = random.integer(modulus, 10 * difficulty * difficulty * modulus);
  const quotient = Math.floor(number / modulus);
  const rest = number - quotient * modulus;
  return {
    prose: `What is the remainder when ${number} is divided by ${modulus}?`,
    terse: `${number}%${modulus}`,
    answer: String(rest),
    steps: [`${quotient} * ${modulus} = ${quotient * modulus}`, `${number} - ${quotient * modulus} = ${rest}`],
    compare: "value",
  };
}

/** Makes a problem: the remainder of a power, by repeated squaring. */
export function power(random: RandomStream, difficulty: number): Problem {
  const modulus = random.integer(3, 5 + difficulty * 3);
  const base = random.integer(2, modulus - 1);
  const exponent = random.integer(4, difficulty * difficulty);
  let result = base;
  const steps: string[] = [];
  // From the second binary digit of the exponent on: square, and multiply where the digit is 1.
  for (const digit of exponent.toString(2).slice(1)) {
    const squared = (result * result) % modulus;
    steps.push(`${result}^2 mod ${modulus} = ${squared}`);
    result = squared;
    if (digit === "0") continue;
    const multiplied = (result * base) % modulus;
    steps.push(`${result} * ${base} mod ${modulus} = ${multiplied}`);
    result = multiplied;
  }
  return {
    prose: `What is the remainder when ${base}^${exponent} is divided by ${modulus}?`,
    terse: `${base}^${exponent}%${modulus}`,
    answer: String(result),
    steps,
    compare: "value",
  };
}
