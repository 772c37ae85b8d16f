/**
 * Multivariate polynomials over the rationals. An indeterminate ("atom") is named by a string; exponents are rational,
 * so square roots of primes and of variables are monomials too. A rule makes an atom reduce: `i` has i^2 = -1, the
 * prime 2 has 2^1 = 2, so that sqrt(2)*sqrt(2) becomes a coefficient.
 */
import * as q from "../exact/rational.ts";
import { bitLength } from "../exact/integer.ts";
import type { Rational } from "../exact/rational.ts";
import type { Work } from "../work.ts";

export type Monomial = readonly (readonly [atom: string, exponent: Rational])[];
export type Term = { readonly monomial: Monomial; readonly coefficient: Rational };
/** Terms by the canonical spelling of their monomial; no zero coefficients. */
export type Polynomial = ReadonlyMap<string, Term>;
/** atom^period = value */
export type Rule = { readonly period: bigint; readonly value: Polynomial };

export const ZERO: Polynomial = new Map();

export function constant(value: Rational): Polynomial {
  return value.n === 0n ? ZERO : new Map([["", { monomial: [], coefficient: value }]]);
}

export const ONE: Polynomial = constant(q.ONE);

export function atom(name: string, exponent: Rational = q.ONE, coefficient: Rational = q.ONE): Polynomial {
  const monomial: Monomial = [[name, exponent]];
  return new Map([[spell(monomial), { monomial, coefficient }]]);
}

export function spell(monomial: Monomial): string {
  let out = "";
  for (const [name, exponent] of monomial) out += `${name}^${q.toText(exponent)}·`;
  return out;
}

/** Returns the rational value, or undefined when an indeterminate occurs. */
export function asConstant(p: Polynomial): Rational | undefined {
  if (p.size === 0) return q.ZERO;
  return p.size === 1 ? p.get("")?.coefficient : undefined;
}

/** Returns the only term, or undefined. */
export function singleTerm(p: Polynomial): Term | undefined {
  return p.size === 1 ? (p.values().next().value as Term) : undefined;
}

/** Returns a canonical spelling: equal exactly for equal polynomials. */
export function keyOf(p: Polynomial): string {
  if (p.size === 0) return "0";
  return [...p]
    .map(([key, term]) => `${q.toText(term.coefficient)}·${key}`)
    .sort()
    .join("+");
}

/** Returns the coefficient of the first monomial in canonical order. */
export function leadingCoefficient(p: Polynomial): Rational {
  let first: string | undefined;
  for (const key of p.keys()) if (first === undefined || key > first) first = key;
  return first === undefined ? q.ZERO : (p.get(first) as Term).coefficient;
}

export function scale(p: Polynomial, factor: Rational): Polynomial {
  if (factor.n === 0n) return ZERO;
  if (factor.n === 1n && factor.d === 1n) return p;
  const out = new Map<string, Term>();
  for (const [key, term] of p)
    out.set(key, { monomial: term.monomial, coefficient: q.multiply(term.coefficient, factor) });
  return out;
}

export function negate(p: Polynomial): Polynomial {
  return scale(p, q.MINUS_ONE);
}

function accumulate(into: Map<string, Term>, key: string, monomial: Monomial, coefficient: Rational): void {
  const present = into.get(key);
  if (!present) {
    if (coefficient.n !== 0n) into.set(key, { monomial, coefficient });
    return;
  }
  const total = q.add(present.coefficient, coefficient);
  if (total.n === 0n) into.delete(key);
  else into.set(key, { monomial, coefficient: total });
}

/** Largest coefficient, in bits, of the exact arithmetic. */
const MOST_BITS = 60_000;

/** Arithmetic with reduction rules, within a work budget. */
export class PolynomialRing {
  readonly work: Work;
  readonly rules: Map<string, Rule> = new Map();

  constructor(work: Work) {
    this.work = work;
  }

  add(a: Polynomial, b: Polynomial): Polynomial {
    if (a.size === 0) return b;
    this.work.spend(4 * (a.size + b.size));
    const out = new Map(a);
    for (const [key, term] of b) {
      const bits = bitsOf(term.coefficient);
      if (bits > 64) this.work.spend((bits * bits) >> 12);
      accumulate(out, key, term.monomial, term.coefficient);
    }
    return out;
  }

  multiply(a: Polynomial, b: Polynomial): Polynomial {
    if (a.size === 0 || b.size === 0) return ZERO;
    const out = new Map<string, Term>();
    for (const left of a.values()) {
      for (const right of b.values()) {
        this.#charge(left.coefficient, right.coefficient);
        const monomial = this.#join(left.monomial, right.monomial);
        const coefficient = q.multiply(left.coefficient, right.coefficient);
        const reduced = this.#reduce(monomial, coefficient);
        if (reduced === undefined) accumulate(out, spell(monomial), monomial, coefficient);
        else for (const [key, term] of reduced) accumulate(out, key, term.monomial, term.coefficient);
      }
    }
    return out;
  }

  /** Computes p to a non-negative integer power. */
  power(p: Polynomial, exponent: number): Polynomial {
    const value = asConstant(p);
    if (value !== undefined) {
      const bits = Math.max(bitLength(value.n), bitLength(value.d));
      if ((bits - 1) * exponent > MOST_BITS) this.work.spend(this.work.limit);
      this.work.spend(1 + ((bits * exponent) >> 6));
      return constant(q.power(value, exponent));
    }
    let result = ONE;
    let square = p;
    for (let k = exponent; k > 0; k = Math.floor(k / 2)) {
      if (k % 2 === 1) result = this.multiply(result, square);
      if (k > 1) square = this.multiply(square, square);
    }
    return result;
  }

  /** Returns the monomial's value under the rules, as a polynomial. */
  reduced(monomial: Monomial, coefficient: Rational): Polynomial {
    return this.#reduce(monomial, coefficient) ?? new Map([[spell(monomial), { monomial, coefficient }]]);
  }

  #charge(a: Rational, b: Rational): void {
    const bits = bitsOf(a) + bitsOf(b);
    if (bits > MOST_BITS) this.work.spend(this.work.limit);
    this.work.spend(12 + (bits >> 5));
  }

  #join(a: Monomial, b: Monomial): Monomial {
    if (a.length === 0) return b;
    if (b.length === 0) return a;
    const out: (readonly [string, Rational])[] = [];
    let i = 0;
    let j = 0;
    while (i < a.length || j < b.length) {
      const left = a[i];
      const right = b[j];
      if (left && (!right || left[0] < right[0])) {
        out.push(left);
        i++;
      } else if (right && (!left || right[0] < left[0])) {
        out.push(right);
        j++;
      } else if (left && right) {
        const exponent = q.add(left[1], right[1]);
        if (exponent.n !== 0n) out.push([left[0], exponent]);
        i++;
        j++;
      }
    }
    return out;
  }

  #reduce(monomial: Monomial, coefficient: Rational): Polynomial | undefined {
    const at = monomial.findIndex(([name, exponent]) => {
      const rule = this.rules.get(name);
      return rule !== undefined && (exponent.n < 0n || exponent.n >= rule.period * exponent.d);
    });
    if (at < 0) return undefined;
    const [name, exponent] = monomial[at] as readonly [string, Rational];
    const rule = this.rules.get(name) as Rule;
    const times = q.floor(q.divide(exponent, { n: rule.period, d: 1n }));
    const rest = q.subtract(exponent, { n: rule.period * times, d: 1n });
    const kept: (readonly [string, Rational])[] = monomial.flatMap((entry, i) =>
      i !== at ? [entry] : rest.n === 0n ? [] : [[name, rest] as const],
    );
    const value = asConstant(rule.value);
    if (value !== undefined) {
      const count = Number(times);
      if (Math.abs(count) * bitsOf(value) > MOST_BITS) this.work.spend(this.work.limit);
      return this.reduced(kept, q.multiply(coefficient, q.power(value, count)));
    }
    const remaining = this.reduced(kept, coefficient);
    return this.multiply(remaining, this.power(rule.value, Number(times)));
  }
}

function bitsOf(value: Rational): number {
  return value.n < 1_000_000n && value.n > -1_000_000n && value.d < 1_000_000n
    ? 20
    : bitLength(value.n) + bitLength(value.d);
}
