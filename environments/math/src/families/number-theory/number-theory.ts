import type { RandomStream } from "@mrlm/kit";
import type { Family, Problem } from "../problem.ts";
import { commonDivisor, commonMultiple } from "./common.ts";
import { divisorCount, divisorSum } from "./divisors.ts";
import { power, remainder } from "./modular.ts";
import { largestPrimeFactor, nextPrime } from "./primes.ts";

type Kind = (random: RandomStream, difficulty: number) => Problem;

/** Lowest difficulty of each kind of question. */
const KINDS: readonly (readonly [difficulty: number, kind: Kind])[] = [
  [1, remainder],
  [1, commonDivisor],
  [2, commonMultiple],
  [2, nextPrime],
  [3, divisorCount],
  [4, largestPrimeFactor],
  [5, divisorSum],
  [6, power],
];

/** Divisors, multiples, remainders and primes. */
export const numberTheory: Family = {
  name: "number_theory",
  generate(random, difficulty) {
    const [, kind] = random.pick(KINDS.filter(([from]) => from <= difficulty));
    return kind(random, difficulty);
  },
};
