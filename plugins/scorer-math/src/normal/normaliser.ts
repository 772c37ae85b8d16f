/**
 * The exact normal form of an expression: a quotient of polynomials over the rationals in variables, radicals, the
 * imaginary unit, pi, e, and applications of functions to normal forms.
 */
import * as q from "../exact/rational.ts";
import type { Node } from "../tree/node.ts";
import type { Work } from "../work.ts";
import type { NormalForms } from "./context.ts";
import * as frac from "./fraction.ts";
import type { Fraction } from "./fraction.ts";
import { normaliseCall } from "./functions.ts";
import * as poly from "./polynomial.ts";
import { PolynomialRing, type Polynomial } from "./polynomial.ts";
import { NotScalar } from "./errors.ts";
import { normalisePower } from "./powers.ts";

export class Normaliser implements NormalForms {
  readonly work: Work;
  readonly ring: PolynomialRing;
  isComplete = true;
  readonly origins: Map<string, Fraction> = new Map();
  readonly #constants = new Set<string>();

  constructor(work: Work) {
    this.work = work;
    this.ring = new PolynomialRing(work);
  }

  normalise(node: Node): Fraction {
    this.work.spend();
    switch (node.kind) {
      case "number":
        return frac.constant(node.value);
      case "symbol":
        return frac.whole(poly.atom(node.name));
      case "constant":
        return this.#constant(node.name);
      case "add":
        return node.terms.map((term) => this.normalise(term)).reduce((a, b) => frac.add(this.ring, a, b));
      case "multiply":
        return node.factors.map((factor) => this.normalise(factor)).reduce((a, b) => frac.multiply(this.ring, a, b));
      case "power":
        return normalisePower(this, node.base, node.exponent);
      case "percent":
        return frac.multiply(this.ring, this.normalise(node.value), frac.constant(q.rational(1, 100)));
      case "quantity":
        return this.#quantity(node);
      case "ratio":
        if (node.parts.length !== 2) throw new NotScalar("a ratio of more than two");
        return frac.divide(this.ring, this.normalise(node.parts[0] as Node), this.normalise(node.parts[1] as Node));
      case "call":
        return normaliseCall(this, node.name, node.args);
      default:
        throw new NotScalar(`a ${node.kind} is not a number`);
    }
  }

  radical(p: Polynomial, exponent: q.Rational): Polynomial {
    const name = `[${poly.keyOf(p)}]`;
    this.ring.rules.set(name, { period: 1n, value: p });
    this.isComplete = false;
    return poly.atom(name, exponent);
  }

  application(name: string, args: readonly Fraction[]): string {
    const atom = `${name}{${args.map(frac.keyOf).join(",")}}`;
    if (args[0]) this.origins.set(atom, args[0]);
    return atom;
  }

  #constant(name: string): Fraction {
    if (name === "infinity") throw new NotScalar("infinity is not a number");
    if (name === "i") {
      this.ring.rules.set("i", { period: 2n, value: poly.constant(q.MINUS_ONE) });
      return frac.whole(poly.atom("i"));
    }
    this.#constants.add(name);
    if (this.#constants.size > 1) this.isComplete = false;
    return frac.whole(poly.atom(name));
  }

  #quantity(node: Node & { kind: "quantity" }): Fraction {
    const { factor, dimension, hasPi } = node.unit;
    let out = frac.multiply(this.ring, this.normalise(node.value), frac.constant(factor));
    if (hasPi) out = frac.multiply(this.ring, out, this.#constant("pi"));
    for (const part of dimension === "" ? [] : dimension.split(" ")) {
      const [base, exponent] = part.split("^") as [string, string];
      out = frac.multiply(this.ring, out, frac.whole(poly.atom(`unit ${base}`, q.rational(Number(exponent)))));
    }
    return out;
  }
}
