/** Factorials and binomial coefficients in normal form. */
import * as q from "../exact/rational.ts";
import * as frac from "./fraction.ts";
import type { Fraction } from "./fraction.ts";
import type { NormalForms } from "./context.ts";
import * as poly from "./polynomial.ts";

const LARGEST_FACTORIAL = 3000n;
const FURTHEST_SHIFT = 20n;

/** Computes n!; for `x + k` the falling product down to `x!`, so that (x + 1)!/x! reduces. Undefined when it stays opaque. */
export function factorial(n: NormalForms, a: Fraction): Fraction | undefined {
  const value = frac.asConstant(a);
  if (value !== undefined) {
    if (!q.isInteger(value) || value.n < 0n || value.n > LARGEST_FACTORIAL) return undefined;
    return frac.constant(q.rational(product(n, 1n, value.n)));
  }
  if (a.bottom !== poly.ONE) return undefined;
  const shift = a.top.get("")?.coefficient ?? q.ZERO;
  n.isComplete = false;
  const whole = q.floor(shift);
  if (whole === 0n || whole > FURTHEST_SHIFT || whole < -FURTHEST_SHIFT) return undefined;
  const base = frac.add(n.ring, a, frac.constant(q.rational(-whole)));
  let out = frac.whole(poly.atom(n.application("factorial", [base])));
  for (let k = 1n; k <= whole; k++)
    out = frac.multiply(n.ring, out, frac.add(n.ring, base, frac.constant(q.rational(k))));
  for (let k = 0n; k > whole; k--) out = frac.divide(n.ring, out, frac.add(n.ring, base, frac.constant(q.rational(k))));
  return out;
}

/** Computes n choose k for a small k, or for numbers; undefined when it stays opaque. */
export function binomial(n: NormalForms, top: Fraction, bottom: Fraction): Fraction | undefined {
  const k = frac.asConstant(bottom);
  const m = frac.asConstant(top);
  if (!k || !q.isInteger(k)) return undefined;
  if (k.n < 0n) return frac.ZERO;
  if (m && q.isInteger(m) && m.n >= 0n) {
    if (k.n > m.n) return frac.ZERO;
    const least = k.n < m.n - k.n ? k.n : m.n - k.n;
    if (least > LARGEST_FACTORIAL) return undefined;
    return frac.constant(q.rational(product(n, m.n - least + 1n, m.n), product(n, 1n, least)));
  }
  if (k.n > FURTHEST_SHIFT) return undefined;
  let out = frac.ONE;
  for (let j = 0n; j < k.n; j++) {
    const factor = frac.add(n.ring, top, frac.constant(q.rational(-j)));
    out = frac.multiply(n.ring, out, frac.multiply(n.ring, factor, frac.constant(q.rational(1n, j + 1n))));
  }
  return out;
}

function product(n: NormalForms, from: bigint, to: bigint): bigint {
  let out = 1n;
  for (let k = from; k <= to; k++) {
    n.work.spend(8);
    out *= k;
  }
  return out;
}
