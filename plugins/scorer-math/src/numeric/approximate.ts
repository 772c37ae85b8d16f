/** A rational close to a constant expression, for rounding rules. */
import type { Rational } from "../exact/rational.ts";
import { multiply, power, rational } from "../exact/rational.ts";
import { isReal } from "./complex.ts";
import { OutOfRange, UndefinedAtPoint, Unevaluable } from "./errors.ts";
import { Evaluator } from "./evaluate.ts";
import { magnitude } from "./real.ts";
import type { Node } from "../tree/node.ts";
import type { Work } from "../work.ts";

const BITS = 192;
const LARGEST_MAGNITUDE = 4000;

/** Returns the value of a constant to about 190 bits; undefined when it is not a real number of moderate size. */
export function approximate(node: Node, work: Work): Rational | undefined {
  const exact = exactRational(node);
  if (exact) return exact;
  try {
    const value = new Evaluator(work, BITS, new Map(), false).evaluate(node);
    if (!isReal(value) || Math.abs(magnitude(value.re)) > LARGEST_MAGNITUDE)
      return value.re.mantissa === 0n && isReal(value) ? rational(0) : undefined;
    const { mantissa, exponent } = value.re;
    return exponent >= 0 ? rational(mantissa << BigInt(exponent)) : rational(mantissa, 1n << BigInt(-exponent));
  } catch (error) {
    if (error instanceof Unevaluable || error instanceof UndefinedAtPoint || error instanceof OutOfRange)
      return undefined;
    throw error;
  }
}

/** Returns the exact value of a product of literals and small powers of them. */
function exactRational(node: Node): Rational | undefined {
  if (node.kind === "number") return node.value;
  if (node.kind === "percent") {
    const value = exactRational(node.value);
    return value && multiply(value, rational(1, 100));
  }
  if (node.kind === "multiply") {
    return node.factors.map(exactRational).reduce((a, b) => (a && b ? multiply(a, b) : undefined), rational(1));
  }
  if (node.kind !== "power" || node.exponent.kind !== "number" || node.exponent.value.d !== 1n) return undefined;
  const base = exactRational(node.base);
  const exponent = Number(node.exponent.value.n);
  return base && Math.abs(exponent) <= 100 && (base.n !== 0n || exponent > 0) ? power(base, exponent) : undefined;
}
