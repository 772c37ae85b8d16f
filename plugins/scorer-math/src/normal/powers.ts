/** Powers and radicals in normal form. */
import { factor, gcd } from "../exact/integer.ts";
import * as q from "../exact/rational.ts";
import type { Rational } from "../exact/rational.ts";
import type { Node } from "../tree/node.ts";
import * as frac from "./fraction.ts";
import { Undefined } from "./errors.ts";
import type { Fraction } from "./fraction.ts";
import type { NormalForms } from "./context.ts";
import * as poly from "./polynomial.ts";
import type { Monomial, Polynomial, Term } from "./polynomial.ts";
import { LARGEST_EXPONENT, rootOfPositive } from "./roots.ts";
import { eulerPower } from "./trigonometry.ts";

export function normalisePower(n: NormalForms, base: Node, exponent: Node): Fraction {
  return raise(n, n.normalise(base), n.normalise(exponent));
}

export function raise(n: NormalForms, base: Fraction, exponent: Fraction): Fraction {
  const value = frac.asConstant(exponent);
  if (value === undefined) return raiseSymbolic(n, base, exponent);
  return q.isInteger(value) ? raiseInteger(n, base, value.n) : raiseFraction(n, base, value);
}

function raiseInteger(n: NormalForms, base: Fraction, exponent: bigint): Fraction {
  const size = exponent < 0n ? -exponent : exponent;
  if (base.top.size === 0) {
    if (exponent > 0n) return frac.ZERO;
    throw new Undefined(exponent === 0n ? "zero to the power zero" : "division by zero");
  }
  const term = base.bottom === poly.ONE ? poly.singleTerm(base.top) : undefined;
  const isUnit = term && (term.coefficient.n === 1n || term.coefficient.n === -1n) && term.coefficient.d === 1n;
  if (size > LARGEST_EXPONENT && !isUnit) n.work.spend(n.work.limit);
  if (term && !term.monomial.some(([name]) => n.ring.rules.has(name))) {
    const k = q.rational(exponent);
    const monomial: Monomial =
      exponent === 0n ? [] : term.monomial.map(([name, e]) => [name, q.multiply(e, k)] as const);
    const coefficient = isUnit
      ? exponent % 2n === 0n
        ? q.ONE
        : term.coefficient
      : (poly.asConstant(n.ring.power(poly.constant(term.coefficient), Number(size))) as Rational);
    return frac.whole(
      new Map([
        [poly.spell(monomial), { monomial, coefficient: exponent < 0n ? q.divide(q.ONE, coefficient) : coefficient }],
      ]),
    );
  }
  const top = n.ring.power(base.top, Number(size));
  const bottom = n.ring.power(base.bottom, Number(size));
  return exponent < 0n ? frac.fraction(n.ring, bottom, top) : frac.fraction(n.ring, top, bottom);
}

function raiseFraction(n: NormalForms, base: Fraction, exponent: Rational): Fraction {
  if (base.top.size === 0) {
    if (exponent.n > 0n) return frac.ZERO;
    throw new Undefined("division by zero");
  }
  const top = raisePolynomial(n, base.top, exponent);
  return base.bottom === poly.ONE ? top : frac.divide(n.ring, top, raisePolynomial(n, base.bottom, exponent));
}

/** Raises a polynomial: factors the content out, takes roots of its primes, and makes a radical of the rest. */
function raisePolynomial(n: NormalForms, p: Polynomial, exponent: Rational): Fraction {
  const term = poly.singleTerm(p);
  if (term) return raiseTerm(n, term, exponent);
  const content = contentOf(p);
  const rest = poly.scale(p, q.divide(q.ONE, content));
  const k = q.floor(exponent);
  const remainder = q.subtract(exponent, q.rational(k));
  const power = raiseInteger(n, frac.whole(rest), k);
  const radical = frac.whole(n.radical(rest, remainder));
  return frac.multiply(n.ring, raiseRational(n, content, exponent), frac.multiply(n.ring, power, radical));
}

/** Computes gcd of the coefficients' numerators over the lcm of their denominators; positive. */
function contentOf(p: Polynomial): Rational {
  let top = 0n;
  let bottom = 1n;
  for (const { coefficient } of p.values()) {
    top = gcd(top, coefficient.n);
    bottom = (bottom * coefficient.d) / gcd(bottom, coefficient.d);
  }
  return q.rational(top, bottom);
}

const POSITIVE_ATOM = /^(?:pi|e|#\d+|\|.*|e\^\{.*|\d.*\^\{.*|unit .*)$/;

/** Computes (c x^a y^b)^r. An even power of a variable under an even root leaves the absolute value. */
function raiseTerm(n: NormalForms, term: Term, exponent: Rational): Fraction {
  const isEvenRoot = exponent.d % 2n === 0n;
  if (isEvenRoot && term.coefficient.n < 0n && term.monomial.some(([name]) => !POSITIVE_ATOM.test(name))) {
    return raiseNegative(n, term, exponent);
  }
  let out = raiseRational(n, term.coefficient, exponent);
  for (const [name, e] of term.monomial) {
    const isPositive = POSITIVE_ATOM.test(name);
    const isEvenPower = q.isInteger(e) && e.n % 2n === 0n;
    const rule = n.ring.rules.get(name);
    const raised = q.multiply(e, exponent);
    if (!isPositive && (name === "i" || (rule !== undefined && !isEvenPower))) {
      out = frac.multiply(
        n.ring,
        out,
        frac.whole(n.radical(poly.atom(name, e), q.subtract(exponent, q.rational(q.floor(exponent))))),
      );
      out = frac.multiply(n.ring, out, raiseInteger(n, frac.whole(poly.atom(name, e)), q.floor(exponent)));
      continue;
    }
    if (isPositive && rule === undefined) out = frac.multiply(n.ring, out, frac.whole(poly.atom(name, raised)));
    else if (isPositive) out = frac.multiply(n.ring, out, frac.whole(n.ring.reduced([[name, raised]], q.ONE)));
    else if (!isEvenRoot || !isEvenPower || (q.isInteger(raised) && raised.n % 2n === 0n))
      out = frac.multiply(n.ring, out, frac.whole(poly.atom(name, raised)));
    else out = frac.multiply(n.ring, out, raiseFractionOrInteger(n, absoluteAtom(n, poly.atom(name)), raised));
  }
  return out;
}

/** Computes an even root of -c x^a: real where x is negative, so the sign stays with the variable. */
function raiseNegative(n: NormalForms, term: Term, exponent: Rational): Fraction {
  const size = raiseRational(n, q.negate(term.coefficient), exponent);
  const rest = n.ring.reduced(term.monomial, q.MINUS_ONE);
  const whole = q.floor(exponent);
  const root = frac.whole(n.radical(rest, q.subtract(exponent, q.rational(whole))));
  return frac.multiply(n.ring, size, frac.multiply(n.ring, raiseInteger(n, frac.whole(rest), whole), root));
}

function raiseFractionOrInteger(n: NormalForms, p: Polynomial, exponent: Rational): Fraction {
  if (q.isInteger(exponent)) return raiseInteger(n, frac.whole(p), exponent.n);
  return frac.whole(
    n.ring.reduced(
      (poly.singleTerm(p) as Term).monomial.map(([name]) => [name, exponent] as const),
      q.ONE,
    ),
  );
}

/** Returns the atom |p|, whose square is p^2. */
export function absoluteAtom(n: NormalForms, p: Polynomial): Polynomial {
  const name = `|${poly.keyOf(p)}|`;
  n.ring.rules.set(name, { period: 2n, value: n.ring.power(p, 2) });
  n.isComplete = false;
  return poly.atom(name);
}

/** Computes a rational to a rational power: a root of unity for a negative base times the root of its size. */
export function raiseRational(n: NormalForms, value: Rational, exponent: Rational): Fraction {
  if (q.isInteger(exponent)) return raiseInteger(n, frac.constant(value), exponent.n);
  const size = rootOfPositive(n, q.absolute(value), exponent);
  if (value.n > 0n) return size;
  const unit =
    exponent.d % 2n === 1n ? frac.constant(q.rational(exponent.n % 2n === 0n ? 1 : -1)) : eulerPower(n, exponent);
  return frac.multiply(n.ring, unit, size);
}

/** Computes base^(c0 + c1 m1 + ...) as base^c0 (base^m1)^c1 ..., with the primes of a rational base taken apart. */
function raiseSymbolic(n: NormalForms, base: Fraction, exponent: Fraction): Fraction {
  const value = frac.asConstant(base);
  if (value !== undefined && value.n === 1n && value.d === 1n) return frac.ONE;
  if (exponent.bottom !== poly.ONE || (value !== undefined && value.n === 0n)) {
    n.isComplete = false;
    return frac.whole(poly.atom(n.application("^", [base, exponent])));
  }
  const isE = frac.keyOf(base) === frac.keyOf(frac.whole(poly.atom("e")));
  let out = frac.ONE;
  for (const term of exponent.top.values()) out = frac.multiply(n.ring, out, raiseByTerm(n, base, value, isE, term));
  return out;
}

function raiseByTerm(n: NormalForms, base: Fraction, value: Rational | undefined, isE: boolean, term: Term): Fraction {
  if (term.monomial.length === 0) return raise(n, base, frac.constant(term.coefficient));
  if (isE) {
    const names = term.monomial.map(([name, e]) => `${name}^${q.toText(e)}`).join(" ");
    if (names === "i^1 pi^1") return eulerPower(n, term.coefficient);
    const log =
      term.monomial.length === 1 && term.monomial[0]?.[0].startsWith("ln{") && q.equals(term.monomial[0][1], q.ONE)
        ? n.origins.get(term.monomial[0][0])
        : undefined;
    if (log) return raise(n, log, frac.constant(term.coefficient));
  }
  n.isComplete = false;
  const exponentKey = poly.spell(term.monomial);
  if (value === undefined) return symbolicAtom(n, isE ? "e" : frac.keyOf(base), exponentKey, term);
  let out = frac.ONE;
  if (value.n < 0n) {
    const name = `-1^{${exponentKey}}`;
    n.ring.rules.set(name, { period: 2n, value: poly.ONE });
    out = frac.whole(n.ring.reduced([[name, term.coefficient]], q.ONE));
  }
  for (const [sign, part] of [[1n, value.n < 0n ? -value.n : value.n] as const, [-1n, value.d] as const]) {
    if (part === 1n) continue;
    n.work.spend(300);
    for (const [prime, count] of factor(part).factors) {
      const scaled: Term = {
        monomial: term.monomial,
        coefficient: q.multiply(term.coefficient, q.rational(sign * BigInt(count))),
      };
      out = frac.multiply(n.ring, out, symbolicAtom(n, prime.toString(), exponentKey, scaled));
    }
  }
  return out;
}

function symbolicAtom(n: NormalForms, base: string, exponentKey: string, term: Term): Fraction {
  const name = `${base}^{${exponentKey}}`;
  n.origins.set(name, frac.whole(new Map([[exponentKey, { monomial: term.monomial, coefficient: q.ONE }]])));
  return frac.whole(poly.atom(name, term.coefficient));
}
