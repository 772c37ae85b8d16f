/** Sines and cosines: exact values at rational multiples of pi, and one spelling of their arguments. */
import * as q from "../exact/rational.ts";
import type { Rational } from "../exact/rational.ts";
import * as frac from "./fraction.ts";
import type { Fraction } from "./fraction.ts";
import type { NormalForms } from "./context.ts";
import * as poly from "./polynomial.ts";
import { rootOfPositive } from "./roots.ts";

const PI_KEY = poly.spell([["pi", q.ONE]]);

/** Computes (-1)^r = cos(r pi) + i sin(r pi). */
export function eulerPower(n: NormalForms, r: Rational): Fraction {
  n.ring.rules.set("i", { period: 2n, value: poly.constant(q.MINUS_ONE) });
  const imaginary = frac.multiply(n.ring, frac.whole(poly.atom("i")), cosineOfTurn(n, q.subtract(q.HALF, r)));
  return frac.add(n.ring, cosineOfTurn(n, r), imaginary);
}

/** Computes cos(r pi), in radicals where r has a denominator of 1 to 6, 8, 10 or 12. */
function cosineOfTurn(n: NormalForms, r: Rational): Fraction {
  let t = q.subtract(q.absolute(r), q.rational(2n * q.floor(q.divide(q.absolute(r), q.rational(2)))));
  if (q.compare(t, q.ONE) > 0) t = q.subtract(q.rational(2), t);
  if (q.compare(t, q.HALF) > 0) return frac.negate(cosineOfTurn(n, q.subtract(q.ONE, t)));
  const root = (k: number): Fraction => rootOfPositive(n, q.rational(k), q.HALF);
  const over = (a: Fraction, k: number): Fraction => frac.multiply(n.ring, a, frac.constant(q.rational(1, k)));
  const sum = (a: Fraction, b: Fraction): Fraction => frac.add(n.ring, a, b);
  switch (q.toText(t)) {
    case "0":
      return frac.ONE;
    case "1/2":
      return frac.ZERO;
    case "1/3":
      return frac.constant(q.HALF);
    case "1/4":
      return over(root(2), 2);
    case "1/6":
      return over(root(3), 2);
    case "1/5":
      return over(sum(root(5), frac.ONE), 4);
    case "2/5":
      return over(sum(root(5), frac.constant(q.MINUS_ONE)), 4);
    case "1/12":
      return over(sum(root(6), root(2)), 4);
    case "5/12":
      return over(sum(root(6), frac.negate(root(2))), 4);
    default:
      n.isComplete = false;
      return frac.whole(poly.atom(`cos{${q.toText(t)}·pi}`));
  }
}

export function cosine(n: NormalForms, argument: Fraction): Fraction {
  return shifted(n, argument, q.ZERO);
}

/** Computes sin(u) = cos(pi/2 - u). */
export function sine(n: NormalForms, argument: Fraction): Fraction {
  return shifted(n, frac.negate(argument), q.HALF);
}

/** Computes cos(u + r pi). Multiples of pi in u join r, whole quarter turns leave the argument, and cos(-u) = cos(u). */
function shifted(n: NormalForms, u: Fraction, r: Rational): Fraction {
  const piTerm = u.bottom === poly.ONE ? u.top.get(PI_KEY) : undefined;
  const turn = q.add(r, piTerm?.coefficient ?? q.ZERO);
  const rest = piTerm ? frac.add(n.ring, u, frac.whole(poly.atom("pi", q.ONE, q.negate(piTerm.coefficient)))) : u;
  if (rest.top.size === 0) return cosineOfTurn(n, turn);
  n.isComplete = false;
  const quarters = q.floor(q.multiply(turn, q.rational(2)));
  const remainder = q.subtract(turn, q.rational(quarters, 2n));
  const [useSine, isNegative] = (
    [
      [false, false],
      [true, true],
      [false, true],
      [true, false],
    ] as const
  )[Number(((quarters % 4n) + 4n) % 4n)] as readonly [boolean, boolean];
  const argument = remainder.n === 0n ? rest : frac.add(n.ring, rest, frac.whole(poly.atom("pi", q.ONE, remainder)));
  const value = useSine ? sineAtom(n, argument) : cosineAtom(n, argument);
  return isNegative ? frac.negate(value) : value;
}

function cosineAtom(n: NormalForms, u: Fraction): Fraction {
  const argument = poly.leadingCoefficient(u.top).n < 0n ? frac.negate(u) : u;
  return frac.whole(poly.atom(n.application("cos", [argument])));
}

/** Returns the atom of a sine, whose square reduces to 1 - cos^2. */
function sineAtom(n: NormalForms, u: Fraction): Fraction {
  const isNegative = poly.leadingCoefficient(u.top).n < 0n;
  const argument = isNegative ? frac.negate(u) : u;
  const name = n.application("sin", [argument]);
  const cosineName = n.application("cos", [argument]);
  n.ring.rules.set(name, {
    period: 2n,
    value: n.ring.add(poly.ONE, poly.atom(cosineName, q.rational(2), q.MINUS_ONE)),
  });
  const value = frac.whole(poly.atom(name));
  return isNegative ? frac.negate(value) : value;
}
