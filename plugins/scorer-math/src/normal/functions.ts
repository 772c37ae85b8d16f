/** Applications of functions in normal form. */
import { differentiate } from "../tree/derivative.ts";
import { integrate } from "./integral.ts";
import { abs as absInteger, factor, gcd } from "../exact/integer.ts";
import * as q from "../exact/rational.ts";
import type { Rational } from "../exact/rational.ts";
import type { Node } from "../tree/node.ts";
import { infinitySign } from "../tree/walk.ts";
import { binomial, factorial } from "./combinatorics.ts";
import { determinant } from "./determinant.ts";
import * as frac from "./fraction.ts";
import { Undefined } from "./errors.ts";
import type { Fraction } from "./fraction.ts";
import type { NormalForms } from "./context.ts";
import * as poly from "./polynomial.ts";
import { absoluteAtom } from "./powers.ts";
import { finiteSum } from "./series.ts";
import { cosine, sine } from "./trigonometry.ts";

export function normaliseCall(n: NormalForms, name: string, args: readonly Node[]): Fraction {
  const [first] = args;
  if (first === undefined) return opaque(n, name, []);
  if (name === "where") return n.normalise(first);
  if (name === "det" && first.kind === "matrix") return determinant(n, first.rows);
  if (name === "sum()" || name === "prod()") {
    const total = finiteSum(n, name, args);
    if (total) return total;
  }
  const solved = calculus(n, name, args);
  if (solved) return solved;
  if (/^(?:sum|prod|lim|i*int)\b|^derivative|^int_|^cases/.test(name)) return operator(n, name, args);
  const values = args.map((arg) => n.normalise(arg));
  const [a, b] = values as [Fraction, Fraction?];
  const exact = values.map(frac.asConstant);
  switch (name) {
    case "sin":
      return sine(n, a);
    case "cos":
      return cosine(n, a);
    case "tan":
      return frac.divide(n.ring, sine(n, a), cosine(n, a));
    case "cot":
      return frac.divide(n.ring, cosine(n, a), sine(n, a));
    case "sec":
      return frac.divide(n.ring, frac.ONE, cosine(n, a));
    case "csc":
      return frac.divide(n.ring, frac.ONE, sine(n, a));
    case "ln":
      return logarithm(n, a);
    case "log":
      return frac.divide(
        n.ring,
        logarithm(n, a),
        isDefaultBase(args[1]) ? logarithm(n, frac.constant(q.rational(10))) : logarithm(n, b ?? frac.ONE),
      );
    case "abs":
      return absolute(n, a);
    case "factorial":
      return factorial(n, a) ?? opaque(n, name, values);
    case "binomial":
      return (b && binomial(n, a, b)) ?? opaque(n, name, values);
    default:
      return (
        (exact.every((value) => value !== undefined) ? ofRationals(name, exact) : undefined) ?? opaque(n, name, values)
      );
  }
}

/** Computes derivatives, and definite integrals of polynomials. */
function calculus(n: NormalForms, name: string, args: readonly Node[]): Fraction | undefined {
  const [body, low, high] = args;
  const differentiated = differentiate(name, args);
  if (differentiated) return n.normalise(differentiated);
  const integrated = /^int_d(\w+)\(\)$/.exec(name);
  return integrated && body && low && high ? integrate(n, body, integrated[1] as string, low, high) : undefined;
}

/** Returns true for `\log` without a base: ten, as school and competition mathematics write it. */
function isDefaultBase(base: Node | undefined): boolean {
  return base === undefined || (base.kind === "symbol" && base.name === "base");
}

function opaque(n: NormalForms, name: string, values: readonly Fraction[]): Fraction {
  const isFree = name.endsWith("()") && values.every((value) => value.bottom === poly.ONE);
  if (!isFree) n.isComplete = false;
  return frac.whole(poly.atom(n.application(name, values)));
}

/** Makes an atom of an integral, limit or infinite sum, which is equal only to the same one. */
function operator(n: NormalForms, name: string, args: readonly Node[]): Fraction {
  n.isComplete = false;
  const keyOf = (arg: Node): string => {
    if (arg.kind === "relation") return arg.operands.map(keyOf).join(arg.operators[0]);
    if (arg.kind === "tuple") return arg.items.map(keyOf).join(";");
    if (arg.kind === "text") return arg.value;
    const sign = infinitySign(arg);
    return sign === 0 ? frac.keyOf(n.normalise(arg)) : `${sign} infinity`;
  };
  return frac.whole(poly.atom(`${name}{${args.map(keyOf).join(",")}}`));
}

function logarithm(n: NormalForms, a: Fraction): Fraction {
  const value = frac.asConstant(a);
  if (value !== undefined) return logarithmOfRational(n, value);
  const term = a.bottom === poly.ONE ? poly.singleTerm(a.top) : undefined;
  if (!term) {
    n.isComplete = false;
    return frac.whole(poly.atom(n.application("ln", [a])));
  }
  let out = logarithmOfRational(n, term.coefficient);
  for (const [name, exponent] of term.monomial) {
    if (name === "e") out = frac.add(n.ring, out, frac.constant(exponent));
    else if (name.startsWith("e^{") && n.origins.has(name))
      out = frac.add(n.ring, out, frac.multiply(n.ring, n.origins.get(name) as Fraction, frac.constant(exponent)));
    else if (/^#\d+$/.test(name))
      out = frac.add(
        n.ring,
        out,
        frac.multiply(n.ring, logarithmOfRational(n, q.rational(BigInt(name.slice(1)))), frac.constant(exponent)),
      );
    else {
      n.isComplete = false;
      const isSplit = name === "pi" || exponent.d !== 1n || exponent.n % 2n !== 0n;
      const inner = isSplit ? poly.atom(name) : poly.atom(name, exponent);
      out = frac.add(
        n.ring,
        out,
        frac.whole(poly.atom(n.application("ln", [frac.whole(inner)]), q.ONE, isSplit ? exponent : q.ONE)),
      );
    }
  }
  return out;
}

function logarithmOfRational(n: NormalForms, value: Rational): Fraction {
  if (value.n === 0n) throw new Undefined("the logarithm of zero");
  if (value.n < 0n) {
    n.isComplete = false;
    const turn = frac.multiply(
      n.ring,
      n.normalise({ kind: "constant", name: "i" }),
      n.normalise({ kind: "constant", name: "pi" }),
    );
    return frac.add(n.ring, logarithmOfRational(n, q.negate(value)), turn);
  }
  let out = frac.ZERO;
  for (const [sign, part] of [[1, value.n] as const, [-1, value.d] as const]) {
    if (part === 1n) continue;
    n.work.spend(300);
    for (const [prime, count] of factor(part).factors) {
      n.isComplete = false;
      out = frac.add(
        n.ring,
        out,
        frac.whole(poly.atom(n.application("ln", [frac.constant(q.rational(prime))]), q.ONE, q.rational(sign * count))),
      );
    }
  }
  return out;
}

function absolute(n: NormalForms, a: Fraction): Fraction {
  const value = frac.asConstant(a);
  if (value !== undefined) return frac.constant(q.absolute(value));
  const of = (p: poly.Polynomial): poly.Polynomial => {
    const lead = poly.leadingCoefficient(p);
    const term = poly.singleTerm(p);
    const primitive = term ? poly.scale(p, q.divide(q.ONE, term.coefficient)) : lead.n < 0n ? poly.negate(p) : p;
    const size = term ? q.absolute(term.coefficient) : q.ONE;
    if (term && term.monomial.every(([name]) => /^(?:pi|e|#\d+)$/.test(name))) return poly.scale(primitive, size);
    return poly.scale(absoluteAtom(n, primitive), size);
  };
  return a.bottom === poly.ONE ? frac.whole(of(a.top)) : frac.fraction(n.ring, of(a.top), of(a.bottom));
}

/** Computes functions of rationals with rational values. */
function ofRationals(name: string, exact: readonly (Rational | undefined)[]): Fraction | undefined {
  const values = exact as readonly Rational[];
  const [a, b] = values as [Rational, Rational?];
  const integers = values.every(q.isInteger);
  switch (name) {
    case "floor":
      return frac.constant(q.rational(q.floor(a)));
    case "ceil":
      return frac.constant(q.rational(-q.floor(q.negate(a))));
    case "sign":
      return frac.constant(q.rational(q.sign(a)));
    case "max":
      return frac.constant(values.reduce((x, y) => (q.compare(x, y) > 0 ? x : y)));
    case "min":
      return frac.constant(values.reduce((x, y) => (q.compare(x, y) < 0 ? x : y)));
    case "gcd":
      return integers ? frac.constant(q.rational(values.reduce((x, y) => gcd(x, y.n), 0n))) : undefined;
    case "lcm":
      return integers && values.every((v) => v.n !== 0n)
        ? frac.constant(q.rational(values.reduce((x, y) => absInteger(x * y.n) / gcd(x, y.n), 1n)))
        : undefined;
    case "mod":
      return b && b.n !== 0n
        ? frac.constant(q.subtract(a, q.multiply(b, q.rational(q.floor(q.divide(a, b))))))
        : undefined;
    case "conjugate":
    case "re":
      return frac.constant(a);
    case "im":
      return frac.ZERO;
    default:
      return undefined;
  }
}
