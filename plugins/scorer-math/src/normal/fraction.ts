/** Quotients of polynomials: the normal form of an expression. */
import * as q from "../exact/rational.ts";
import type { Rational } from "../exact/rational.ts";
import { Undefined } from "./errors.ts";
import * as poly from "./polynomial.ts";
import type { Polynomial, PolynomialRing } from "./polynomial.ts";

export type Fraction = { readonly top: Polynomial; readonly bottom: Polynomial };

export const ZERO: Fraction = { top: poly.ZERO, bottom: poly.ONE };
export const ONE: Fraction = { top: poly.ONE, bottom: poly.ONE };

export function whole(top: Polynomial): Fraction {
  return { top, bottom: poly.ONE };
}

export function constant(value: Rational): Fraction {
  return whole(poly.constant(value));
}

/** Returns top/bottom with a single-term denominator divided out and any other made monic. */
export function fraction(ring: PolynomialRing, top: Polynomial, bottom: Polynomial): Fraction {
  if (bottom.size === 0) throw new Undefined("division by zero");
  if (top.size === 0) return ZERO;
  const term = poly.singleTerm(bottom);
  if (term) {
    if (term.monomial.some(([name]) => isIrreversible(ring, name))) return { top, bottom };
    const inverse = ring.reduced(
      term.monomial.map(([name, exponent]) => [name, q.negate(exponent)] as const),
      q.divide(q.ONE, term.coefficient),
    );
    return whole(ring.multiply(top, inverse));
  }
  const lead = poly.leadingCoefficient(bottom);
  const factor = q.divide(q.ONE, lead);
  return { top: poly.scale(top, factor), bottom: poly.scale(bottom, factor) };
}

/** Whether a rule gives the atom a value that is no constant, so that its negative powers are no monomials. */
function isIrreversible(ring: PolynomialRing, name: string): boolean {
  const rule = ring.rules.get(name);
  return rule !== undefined && poly.asConstant(rule.value) === undefined;
}

export function add(ring: PolynomialRing, a: Fraction, b: Fraction): Fraction {
  if (a.bottom === b.bottom || (a.bottom.size === b.bottom.size && poly.keyOf(a.bottom) === poly.keyOf(b.bottom))) {
    return fraction(ring, ring.add(a.top, b.top), a.bottom);
  }
  return fraction(
    ring,
    ring.add(ring.multiply(a.top, b.bottom), ring.multiply(b.top, a.bottom)),
    ring.multiply(a.bottom, b.bottom),
  );
}

export function multiply(ring: PolynomialRing, a: Fraction, b: Fraction): Fraction {
  return fraction(ring, ring.multiply(a.top, b.top), ring.multiply(a.bottom, b.bottom));
}

export function divide(ring: PolynomialRing, a: Fraction, b: Fraction): Fraction {
  return fraction(ring, ring.multiply(a.top, b.bottom), ring.multiply(a.bottom, b.top));
}

export function negate(a: Fraction): Fraction {
  return { top: poly.negate(a.top), bottom: a.bottom };
}

/** Returns the numerator of a - b over a common denominator: zero exactly when they are equal. */
export function crossDifference(ring: PolynomialRing, a: Fraction, b: Fraction): Polynomial {
  return ring.add(ring.multiply(a.top, b.bottom), poly.negate(ring.multiply(b.top, a.bottom)));
}

export function asConstant(a: Fraction): Rational | undefined {
  const top = poly.asConstant(a.top);
  const bottom = poly.asConstant(a.bottom);
  return top === undefined || bottom === undefined ? undefined : q.divide(top, bottom);
}

export function keyOf(a: Fraction): string {
  return a.bottom === poly.ONE ? poly.keyOf(a.top) : `(${poly.keyOf(a.top)})/(${poly.keyOf(a.bottom)})`;
}
