/** Rational powers of positive rationals: products of primes with exponents in [0, 1). */
import { factor } from "../exact/integer.ts";
import * as q from "../exact/rational.ts";
import type { Rational } from "../exact/rational.ts";
import * as frac from "./fraction.ts";
import type { Fraction } from "./fraction.ts";
import type { NormalForms } from "./context.ts";
import * as poly from "./polynomial.ts";

/** Largest integer exponent that is carried out. */
export const LARGEST_EXPONENT = 1_000_000;
/** Steps that a factorisation by trial division costs. */
export const FACTOR_STEPS = 300;

export function rootOfPositive(n: NormalForms, value: Rational, exponent: Rational): Fraction {
  let out = frac.ONE;
  for (const [sign, part] of [[1n, value.n] as const, [-1n, value.d] as const]) {
    if (part === 1n) continue;
    n.work.spend(FACTOR_STEPS);
    const { factors, isComplete } = factor(part);
    if (!isComplete) n.isComplete = false;
    for (const [prime, count] of factors) {
      const name = `#${prime}`;
      n.ring.rules.set(name, { period: 1n, value: poly.constant(q.rational(prime)) });
      const power = q.multiply(exponent, q.rational(sign * BigInt(count)));
      if (q.compare(q.absolute(power), q.rational(LARGEST_EXPONENT)) > 0) n.work.spend(n.work.limit);
      out = frac.multiply(n.ring, out, frac.whole(n.ring.reduced([[name, power]], q.ONE)));
    }
  }
  return out;
}
