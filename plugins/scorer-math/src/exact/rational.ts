/** Exact rational numbers: a reduced fraction of BigInts with a positive denominator. */
import { gcd } from "./integer.ts";

export type Rational = { readonly n: bigint; readonly d: bigint };

export const ZERO: Rational = { n: 0n, d: 1n };
export const ONE: Rational = { n: 1n, d: 1n };
export const MINUS_ONE: Rational = { n: -1n, d: 1n };
export const HALF: Rational = { n: 1n, d: 2n };

/** Returns the fraction n/d in lowest terms. The denominator must not be zero. */
export function rational(n: bigint | number, d: bigint | number = 1n): Rational {
  let top = BigInt(n);
  let bottom = BigInt(d);
  if (bottom === 1n) return { n: top, d: 1n };
  if (bottom < 0n) [top, bottom] = [-top, -bottom];
  const g = gcd(top, bottom);
  return g === 1n ? { n: top, d: bottom } : { n: top / g, d: bottom / g };
}

export function add(a: Rational, b: Rational): Rational {
  if (a.d === 1n && b.d === 1n) return { n: a.n + b.n, d: 1n };
  return rational(a.n * b.d + b.n * a.d, a.d * b.d);
}

export function subtract(a: Rational, b: Rational): Rational {
  return add(a, negate(b));
}

export function negate(a: Rational): Rational {
  return { n: -a.n, d: a.d };
}

export function multiply(a: Rational, b: Rational): Rational {
  if (a.d === 1n && b.d === 1n) return { n: a.n * b.n, d: 1n };
  return rational(a.n * b.n, a.d * b.d);
}

/** Returns a/b; `b` must not be zero. */
export function divide(a: Rational, b: Rational): Rational {
  return rational(a.n * b.d, a.d * b.n);
}

/** Returns a to an integer power; a zero base needs a non-negative one. */
export function power(a: Rational, exponent: number): Rational {
  const k = BigInt(Math.abs(exponent));
  if (exponent >= 0) return { n: a.n ** k, d: a.d ** k };
  return a.n < 0n ? { n: (-a.d) ** k, d: (-a.n) ** k } : { n: a.d ** k, d: a.n ** k };
}

export function compare(a: Rational, b: Rational): number {
  const left = a.n * b.d;
  const right = b.n * a.d;
  return left < right ? -1 : left > right ? 1 : 0;
}

export function equals(a: Rational, b: Rational): boolean {
  return a.n === b.n && a.d === b.d;
}

export function sign(a: Rational): number {
  return a.n < 0n ? -1 : a.n > 0n ? 1 : 0;
}

export function absolute(a: Rational): Rational {
  return a.n < 0n ? negate(a) : a;
}

export function isInteger(a: Rational): boolean {
  return a.d === 1n;
}

/** Returns the largest integer not above a. */
export function floor(a: Rational): bigint {
  const q = a.n / a.d;
  return a.n < 0n && q * a.d !== a.n ? q - 1n : q;
}

export function toText(a: Rational): string {
  return a.d === 1n ? a.n.toString() : `${a.n}/${a.d}`;
}

/** Returns the value of a plain decimal literal such as `12`, `.5`, `3.140`; digits only, at most one point. */
export function fromDecimal(literal: string): Rational {
  const point = literal.indexOf(".");
  if (point < 0) return { n: BigInt(literal), d: 1n };
  const fraction = literal.slice(point + 1);
  return rational(BigInt(literal.slice(0, point) + fraction || "0"), 10n ** BigInt(fraction.length));
}
