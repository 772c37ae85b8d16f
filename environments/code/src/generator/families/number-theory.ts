import type { RandomStream } from "@mrlm/kit";
import { type Family, type Sketch, sketch, type TypedSketch } from "../sketch.ts";

type Kind = (random: RandomStream, size: number) => Sketch;
type Part = Pick<TypedSketch<[number]>, "name" | "prose" | "terse" | "python" | "typescript" | "solve">;

const ofOne = (most: number, part: Part): Sketch =>
  sketch<[number]>({
    parameters: [["n", "int"]],
    returns: "int",
    draw: (random) => [random.integer(1, random.pick([20, most]))],
    edges: [[1], [2]],
    ...part,
  });

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);
const isPrime = (n: number): boolean => n > 1 && upTo(Math.floor(Math.sqrt(n))).every((d) => d === 1 || n % d !== 0);

const multiples: Kind = (random, size) => {
  const [a, b] = [random.integer(2, 4 + size), random.integer(5, 9 + size)];
  const both = random.next() < 0.5;
  return ofOne(200, {
    name: "sum_multiples",
    prose: `Add up the integers from 1 to n that are divisible by ${a}${both ? ` or by ${b}` : ` but not by ${b}`}.`,
    terse: `sum 1..n /${a} ${both ? "or" : "not"} /${b}`,
    python: [
      `return sum(i for i in range(1, n + 1) if i % ${a} == 0 ${both ? `or i % ${b} == 0` : `and i % ${b} != 0`})`,
    ],
    typescript: [
      "let total = 0;",
      "for (let i = 1; i <= n; i++) {",
      `    if (i % ${a} === 0 ${both ? `|| i % ${b} === 0` : `&& i % ${b} !== 0`}) total += i;`,
      "}",
      "return total;",
    ],
    solve: (n) =>
      upTo(n)
        .filter((i) => (both ? i % a === 0 || i % b === 0 : i % a === 0 && i % b !== 0))
        .reduce((sum, i) => sum + i, 0),
  });
};

const divisors: Kind = (random, size) => {
  const [k, scale] = [random.integer(2, 5 + size), random.integer(1, 5)];
  return ofOne(300, {
    name: "sum_divisors",
    prose: `Add up the divisors of n, 1 and n among them, that are not divisible by ${k}. Return ${scale === 1 ? "the sum" : `${scale} times the sum`}.`,
    terse: `${scale}*sum divisors not /${k}`,
    python: [`return ${scale} * sum(d for d in range(1, n + 1) if n % d == 0 and d % ${k} != 0)`],
    typescript: [
      "let total = 0;",
      "for (let d = 1; d <= n; d++) {",
      `    if (n % d === 0 && d % ${k} !== 0) total += d;`,
      "}",
      `return ${scale} * total;`,
    ],
    solve: (n) =>
      upTo(n)
        .filter((d) => n % d === 0 && d % k !== 0)
        .reduce((sum, d) => sum + scale * d, 0),
  });
};

const primes: Kind = (random) => {
  const modulus = random.integer(3, 10);
  const remainder = random.pick(upTo(modulus - 1).filter((r) => [2, 3, 5, 7].some((p) => p % modulus === r)));
  return ofOne(150, {
    name: "count_primes",
    prose: `Count the prime numbers up to n, n itself among them, that leave the remainder ${remainder} when divided by ${modulus}.`,
    terse: `primes<=n %${modulus}=${remainder}`,
    python: [
      "count = 0",
      "for p in range(2, n + 1):",
      `    if p % ${modulus} == ${remainder} and all(p % d != 0 for d in range(2, int(p ** 0.5) + 1)):`,
      "        count += 1",
      "return count",
    ],
    typescript: [
      "let count = 0;",
      "for (let p = 2; p <= n; p++) {",
      "    let prime = true;",
      "    for (let d = 2; d * d <= p; d++) if (p % d === 0) prime = false;",
      `    if (prime && p % ${modulus} === ${remainder}) count++;`,
      "}",
      "return count;",
    ],
    solve: (n) => upTo(n).filter((p) => isPrime(p) && p % modulus === remainder).length,
  });
};

const search: Kind = (random, size) => {
  const [a, b] = [random.integer(2, 5 + size), random.integer(2, 6)];
  const digitSum = (n: number): number => Array.from(String(n), Number).reduce((sum, digit) => sum + digit, 0);
  return ofOne(500, {
    name: "next_number",
    prose: `Find the smallest integer above n that is divisible by ${a} and whose digits add up to a multiple of ${b}.`,
    terse: `next /${a} digits /${b}`,
    python: ["m = n + 1", `while m % ${a} != 0 or sum(int(d) for d in str(m)) % ${b} != 0:`, "    m += 1", "return m"],
    typescript: [
      "let m = n + 1;",
      `while (m % ${a} !== 0 || [...String(m)].reduce((sum, d) => sum + Number(d), 0) % ${b} !== 0) m++;`,
      "return m;",
    ],
    solve(n) {
      for (let m = a * (Math.floor(n / a) + 1); ; m += a) if (digitSum(m) % b === 0) return m;
    },
  });
};

const coprimes: Kind = (random, size) => {
  const [k, extra] = [random.integer(2, 30 + 5 * size), random.integer(0, 9)];
  const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));
  return ofOne(150, {
    name: "count_coprimes",
    prose: `Count the integers from 1 to n that share no divisor but 1 with n + ${k}. Return the count plus ${extra}.`,
    terse: `coprimes 1..n of n+${k},+${extra}`,
    python: ["from math import gcd", `return sum(gcd(i, n + ${k}) == 1 for i in range(1, n + 1)) + ${extra}`],
    typescript: [
      "const gcd = (a: number, b: number): number => (b === 0 ? a : gcd(b, a % b));",
      `let count = ${extra};`,
      `for (let i = 1; i <= n; i++) if (gcd(i, n + ${k}) === 1) count++;`,
      "return count;",
    ],
    solve: (n) => extra + upTo(n).filter((i) => gcd(i, n + k) === 1).length,
  });
};

/** Divisors, primes, common factors and searches among the integers. */
export const numberTheory: Family = {
  name: "number_theory",
  generate(random, difficulty) {
    const kinds =
      difficulty < 3
        ? [multiples, divisors]
        : difficulty < 6
          ? [multiples, divisors, primes, search]
          : [primes, search, coprimes];
    return random.pick(kinds)(random, difficulty);
  },
};
