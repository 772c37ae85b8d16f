/** Definite integrals of sums of powers. */
import * as q from "../exact/rational.ts";
import type { NormalForms } from "./context.ts";
import * as frac from "./fraction.ts";
import type { Fraction } from "./fraction.ts";
import * as poly from "./polynomial.ts";
import type { Monomial, Polynomial, Term } from "./polynomial.ts";
import type { Node } from "../tree/node.ts";

/** Returns the integral of a polynomial in the variable; undefined for other integrands. */
export function integrate(n: NormalForms, body: Node, variable: string, low: Node, high: Node): Fraction | undefined {
  const integrand = n.normalise(body);
  if (integrand.bottom !== poly.ONE) return undefined;
  const antiderivative = new Map<string, Term>();
  for (const { monomial, coefficient } of integrand.top.values()) {
    const exponent = monomial.find(([name]) => name === variable)?.[1] ?? q.ZERO;
    const isOpaque = monomial.some(([name]) => name !== variable && name.includes(variable));
    if (isOpaque || !q.isInteger(exponent) || exponent.n < 0n) return undefined;
    const next = q.add(exponent, q.ONE);
    const raised: Monomial = [...monomial.filter(([name]) => name !== variable), [variable, next] as const].sort(
      ([a], [b]) => (a < b ? -1 : 1),
    );
    antiderivative.set(poly.spell(raised), { monomial: raised, coefficient: q.divide(coefficient, next) });
  }
  const at = (end: Node): Fraction => substitute(n, antiderivative, variable, n.normalise(end));
  return frac.add(n.ring, at(high), frac.negate(at(low)));
}

function substitute(n: NormalForms, p: Polynomial, variable: string, value: Fraction): Fraction {
  let out = frac.ZERO;
  for (const { monomial, coefficient } of p.values()) {
    let term = frac.constant(coefficient);
    for (const [name, exponent] of monomial) {
      const factor =
        name === variable ? integerPower(n, value, Number(exponent.n)) : frac.whole(poly.atom(name, exponent));
      term = frac.multiply(n.ring, term, factor);
    }
    out = frac.add(n.ring, out, term);
  }
  return out;
}

function integerPower(n: NormalForms, value: Fraction, exponent: number): Fraction {
  return frac.fraction(n.ring, n.ring.power(value.top, exponent), n.ring.power(value.bottom, exponent));
}
