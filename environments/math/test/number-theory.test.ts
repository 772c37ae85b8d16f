import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { cases, problemOf } from "./support/cases.ts";

test("number theory: the answer is what trying every candidate gives", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(cases, (it) => {
      const { terse, answer } = problemOf("number_theory", it);
      const kind = terse.replace(/\d+/g, "n");
      seen.add(kind);
      const numbers = terse.match(/\d+/g)?.map(Number) as [number, number, number];
      expect([terse, Number(answer)]).toEqual([terse, bruteForce[kind]?.(...numbers)]);
    }),
    { numRuns: 400, seed: 1 },
  );
  expect([...seen].toSorted()).toEqual(Object.keys(bruteForce).toSorted());
});

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);
const divides = (divisor: number) => (number: number) => number % divisor === 0;
const divisors = (n: number): number[] => upTo(n).filter((divisor) => divides(divisor)(n));
const isPrime = (n: number): boolean => divisors(n).length === 2;

/** Form of the question for each kind, with every number as n. */
const bruteForce: Record<string, (a: number, b: number, c: number) => number> = {
  "n%n": (a, b) => Number(BigInt(a) % BigInt(b)),
  "n^n%n": (a, b, c) => Number(BigInt(a) ** BigInt(b) % BigInt(c)),
  "gcd(n,n)": (a, b) =>
    upTo(Math.min(a, b)).findLast((divisor) => divides(divisor)(a) && divides(divisor)(b)) as number,
  "lcm(n,n)": (a, b) =>
    upTo(b)
      .map((times) => times * a)
      .find(divides(b)) as number,
  "divisors(n)": (a) => divisors(a).length,
  "divisorsum(n)": (a) => divisors(a).reduce((sum, divisor) => sum + divisor, 0),
  "nextprime(n)": (a) =>
    upTo(a + 2)
      .map((i) => a + i)
      .find(isPrime) as number,
  "maxprime(n)": (a) => divisors(a).findLast(isPrime) as number,
};
