/** Numeric values of named functions. */
import { differentiate } from "../tree/derivative.ts";
import { gcd } from "../exact/integer.ts";
import type { Node } from "../tree/node.ts";
import * as cx from "./complex.ts";
import type { Complex } from "./complex.ts";
import * as fn from "./elementary.ts";
import { UndefinedAtPoint, Unevaluable } from "./errors.ts";
import type { Evaluation } from "./evaluation.ts";
import * as real from "./real.ts";
import { table } from "../table.ts";

const LARGEST_FACTORIAL = 2000;
const RECIPROCALS: Readonly<Record<string, string>> = table({ sec: "cos", csc: "sin", sech: "cosh", csch: "sinh" });
const INVERSE_RECIPROCALS: Readonly<Record<string, string>> = table({ asec: "acos", acsc: "asin" });

export function evaluateFunction(e: Evaluation, name: string, args: readonly Node[]): Complex {
  const { bits } = e;
  if (name === "sum()" || name === "prod()") return evaluateSeries(e, name, args);
  const differentiated = differentiate(name, args);
  if (differentiated) return e.evaluate(differentiated);
  const values = args.filter((arg) => !(arg.kind === "symbol" && arg.name === "base")).map((arg) => e.evaluate(arg));
  const [a, b] = values;
  if (!a) throw new Unevaluable(`${name} of nothing`);
  e.work.spend(500);
  const reciprocal = RECIPROCALS[name];
  if (reciprocal) return e.invert(ofOne(e, reciprocal, a));
  const inverse = INVERSE_RECIPROCALS[name];
  if (inverse) return ofOne(e, inverse, e.invert(a));
  switch (name) {
    case "log": {
      const base = b ?? cx.fromReal({ mantissa: 10n, exponent: 0 });
      return cx.multiply(ofOne(e, "ln", a), e.invert(ofOne(e, "ln", base)), bits);
    }
    case "binomial": {
      if (!b) throw new Unevaluable("binomial");
      const n = integerOf(a);
      const k = integerOf(b);
      if (k > n) return cx.ZERO;
      return cx.fromReal(real.fromRational({ n: factorial(n) / (factorial(k) * factorial(n - k)), d: 1n }, bits));
    }
    case "max":
    case "min":
      return values.reduce((x, y) =>
        real.sign(real.subtract(realOf(x), realOf(y), bits)) > 0 === (name === "max") ? x : y,
      );
    case "mod": {
      if (!b || cx.isZero(b)) throw new UndefinedAtPoint("modulo zero");
      const quotient = ofOne(e, "floor", cx.multiply(a, cx.inverse(b, bits), bits));
      return cx.add(a, cx.negate(cx.multiply(quotient, b, bits)), bits);
    }
    case "gcd":
    case "lcm": {
      const integers = values.map((value) => BigInt(integerOf(value)));
      const whole = integers.reduce((x, y) => (name === "gcd" ? gcd(x, y) : x * y === 0n ? 0n : (x * y) / gcd(x, y)));
      return cx.fromReal(real.fromRational({ n: whole, d: 1n }, bits));
    }
    default:
      return isUnknown(name) ? ofUnknown(e, name, values) : ofOne(e, name, a);
  }
}

/** Whether a name is that of a function which the answer leaves open, as in `f(x)`. */
function isUnknown(name: string): boolean {
  return (
    /^[A-Za-z]\w*'*(?:\^-1)?\(\)$|^(?:phi|psi)'*\(\)$/.test(name) &&
    !/^(?:sum|prod|lim|i*o?int|derivative|cases)/.test(name)
  );
}

/** Returns a generic function in the place of an unknown one: the same for the same name, else unrelated. */
function ofUnknown(e: Evaluation, name: string, values: readonly Complex[]): Complex {
  let seed = 7n;
  for (const c of name) seed = (seed * 131n + BigInt(c.charCodeAt(0))) % 1_000_003n;
  const coefficient = (): Complex => {
    seed = (seed * 75_161n + 1n) % 1_000_003n;
    return cx.fromReal(real.fromRational({ n: seed + 1n, d: 100_003n }, e.bits));
  };
  let total = coefficient();
  for (const value of values) {
    const inner = cx.add(cx.multiply(coefficient(), value, e.bits), coefficient(), e.bits);
    total = cx.add(total, cx.multiply(inner, value, e.bits), e.bits);
  }
  return total;
}

const MOST_TERMS = 50;

/** Returns a sum or product with whole limits at this point. */
function evaluateSeries(e: Evaluation, name: string, args: readonly Node[]): Complex {
  const [body, start, end] = args;
  const index = start?.kind === "relation" ? start.operands[0] : undefined;
  if (!body || !end || start?.kind !== "relation" || index?.kind !== "symbol") throw new Unevaluable("a series");
  const low = integerOf(e.evaluate(start.operands[1] as Node));
  const high = integerOf(e.evaluate(end));
  if (high - low > MOST_TERMS) throw new Unevaluable("a long series");
  let total = name === "sum()" ? cx.ZERO : cx.ONE;
  for (let k = low; k <= high; k++) {
    const term = e.withValue(index.name, cx.fromReal({ mantissa: BigInt(k), exponent: 0 })).evaluate(body);
    total = name === "sum()" ? cx.add(total, term, e.bits) : cx.multiply(total, term, e.bits);
  }
  return total;
}

function realOf(a: Complex): real.Real {
  if (!cx.isReal(a)) throw new UndefinedAtPoint("not real");
  return a.re;
}

function integerOf(a: Complex): number {
  const value = real.toNumber(realOf(a));
  if (!Number.isInteger(value) || value < 0 || value > LARGEST_FACTORIAL)
    throw new UndefinedAtPoint("no small whole number");
  return value;
}

function factorial(n: number): bigint {
  let value = 1n;
  for (let k = 2; k <= n; k++) value *= BigInt(k);
  return value;
}

function ofOne(e: Evaluation, name: string, a: Complex): Complex {
  const { bits } = e;
  const half = (x: Complex): Complex => ({
    re: { mantissa: x.re.mantissa, exponent: x.re.exponent - 1 },
    im: { mantissa: x.im.mantissa, exponent: x.im.exponent - 1 },
  });
  const ln = (x: Complex): Complex => {
    if (cx.isZero(x)) throw new UndefinedAtPoint("the logarithm of zero");
    return e.real(cx.ln(x, bits));
  };
  const sum = (x: Complex, y: Complex): Complex => cx.add(x, y, bits);
  const times = (x: Complex, y: Complex): Complex => cx.multiply(x, y, bits);
  const minus = cx.negate;
  switch (name) {
    case "sin":
      return cx.sineAndCosine(a, bits)[0];
    case "cos":
      return cx.sineAndCosine(a, bits)[1];
    case "tan": {
      const [s, c] = cx.sineAndCosine(a, bits);
      return times(s, e.invert(c));
    }
    case "cot": {
      const [s, c] = cx.sineAndCosine(a, bits);
      return times(c, e.invert(s));
    }
    case "sinh":
    case "cosh":
    case "tanh":
    case "coth": {
      const up = cx.exp(a, bits);
      const down = e.invert(up);
      const s = half(sum(up, minus(down)));
      const c = half(sum(up, down));
      return name === "sinh"
        ? s
        : name === "cosh"
          ? c
          : name === "tanh"
            ? times(s, e.invert(c))
            : times(c, e.invert(s));
    }
    case "ln":
      return ln(a);
    case "abs":
    case "norm":
      return cx.fromReal(cx.modulus(a, bits));
    case "sign":
      return cx.fromReal({ mantissa: BigInt(real.sign(realOf(a))), exponent: 0 });
    case "floor":
    case "ceil":
      return cx.fromReal(rounded(realOf(a), name === "ceil"));
    case "factorial":
      return cx.fromReal(real.fromRational({ n: factorial(integerOf(a)), d: 1n }, bits));
    case "doubleFactorial": {
      let value = 1n;
      for (let k = integerOf(a); k > 1; k -= 2) value *= BigInt(k);
      return cx.fromReal(real.fromRational({ n: value, d: 1n }, bits));
    }
    case "conjugate":
      return { re: a.re, im: real.negate(a.im) };
    case "re":
      return cx.fromReal(a.re);
    case "im":
      return cx.fromReal(a.im);
    case "arg":
      return cx.fromReal(cx.argument(a, bits));
    case "atan":
      return cx.fromReal(fn.arctangent(realOf(a), bits));
    case "acot":
      return sum(half(cx.fromReal(fn.pi(bits))), minus(cx.fromReal(fn.arctangent(realOf(a), bits))));
    case "asin":
    case "acos": {
      // asin x = atan2(x, sqrt(1 - x^2)), the argument of sqrt(1 - x^2) + i x.
      const x = realOf(a);
      const rest = real.subtract(real.ONE, real.multiply(x, x, bits), bits);
      if (rest.mantissa < 0n) throw new UndefinedAtPoint("not real");
      const root = real.squareRoot(rest, bits);
      return cx.fromReal(cx.argument(name === "asin" ? { re: root, im: x } : { re: x, im: root }, bits));
    }
    case "asinh":
      return ln(sum(a, e.real(cx.squareRoot(sum(times(a, a), cx.ONE), bits))));
    case "acosh":
      return ln(sum(a, e.real(cx.squareRoot(sum(times(a, a), minus(cx.ONE)), bits))));
    case "atanh":
      return half(ln(times(sum(cx.ONE, a), e.invert(sum(cx.ONE, minus(a))))));
    default:
      throw new Unevaluable(`the function ${name}`);
  }
}

function rounded(x: real.Real, isUp: boolean): real.Real {
  if (x.exponent >= 0) return x;
  if (real.magnitude(x) > 4000) throw new UndefinedAtPoint("too large to round");
  const shift = BigInt(-x.exponent);
  const down = x.mantissa >> shift;
  return { mantissa: isUp && down << shift !== x.mantissa ? down + 1n : down, exponent: 0 };
}
