/** Decimal literals: a decimal reference stands for every value that rounds to it at its printed precision. */
import * as q from "../exact/rational.ts";
import type { Rational } from "../exact/rational.ts";
import type { Node } from "../tree/node.ts";

/** A decimal literal, possibly signed, in percent, or times a power of ten: its value and the unit of its last digit. */
export type Printed = { readonly value: Rational; readonly unit: Rational };

export function asPrinted(node: Node): Printed | undefined {
  if (node.kind === "number")
    return node.decimals === undefined ? undefined : { value: node.value, unit: tenTo(-node.decimals) };
  if (node.kind === "percent") return scaled(asPrinted(node.value), q.rational(1, 100));
  if (node.kind !== "multiply") return undefined;
  let literal: Printed | undefined;
  let factor = q.ONE;
  for (const part of node.factors) {
    const printed = asPrinted(part);
    if (printed && literal) return undefined;
    if (printed) literal = printed;
    else if (isPowerOfTen(part) || (part.kind === "number" && part.value.n === -1n && part.value.d === 1n))
      factor = q.multiply(factor, powerOfTen(part));
    else return undefined;
  }
  return scaled(literal, factor);
}

function scaled(printed: Printed | undefined, factor: Rational): Printed | undefined {
  return printed && { value: q.multiply(printed.value, factor), unit: q.absolute(q.multiply(printed.unit, factor)) };
}

function isPowerOfTen(node: Node): boolean {
  return (
    node.kind === "power" &&
    node.base.kind === "number" &&
    node.base.value.n === 10n &&
    node.base.value.d === 1n &&
    node.exponent.kind === "number" &&
    q.isInteger(node.exponent.value) &&
    node.exponent.value.n < 400n &&
    node.exponent.value.n > -400n
  );
}

function powerOfTen(node: Node): Rational {
  if (node.kind === "number") return node.value;
  return node.kind === "power" && node.exponent.kind === "number" ? tenTo(Number(node.exponent.value.n)) : q.ONE;
}

function tenTo(exponent: number): Rational {
  return q.power(q.rational(10), exponent);
}

/** Whether `value` rounds to the printed one, half up or half to even. */
export function roundsTo(value: Rational, printed: Printed): boolean {
  const distance = q.absolute(q.subtract(value, printed.value));
  const half = q.multiply(printed.unit, q.HALF);
  const order = q.compare(distance, half);
  if (order !== 0) return order < 0;
  const isAwayFromZero = q.compare(q.absolute(printed.value), q.absolute(value)) > 0;
  const lastDigit = q.divide(printed.value, printed.unit);
  return isAwayFromZero || lastDigit.n % 2n === 0n;
}

/** Whether the printed value is the beginning of the digits of `value`. */
export function truncatesTo(value: Rational, printed: Printed): boolean {
  const excess = q.subtract(q.absolute(value), q.absolute(printed.value));
  return q.sign(value) === q.sign(printed.value) && excess.n >= 0n && q.compare(excess, printed.unit) < 0;
}

/**
 * Whether one side of an approximation is a rounding of the other at its printed precision; zeros at the end of a whole
 * number may stand for any digits. Another expression, such as 22/7, may be off by half a percent.
 */
export function isRounding(a: Rational, aNode: Node, b: Rational, bNode: Node): boolean {
  const isAt = (value: Rational, node: Node): boolean => {
    const printed = asPrinted(node) ?? wholePrinted(node);
    return printed !== undefined && (roundsTo(value, printed) || truncatesTo(value, printed));
  };
  if (isAt(a, bNode) || isAt(b, aNode)) return true;
  const isLiteral = asPrinted(bNode) ?? wholePrinted(bNode);
  const error = q.absolute(q.subtract(a, b));
  return isLiteral === undefined && q.compare(error, q.multiply(q.absolute(a), q.rational(1, 200))) <= 0;
}

function wholePrinted(node: Node): Printed | undefined {
  if (node.kind === "percent") return scaled(wholePrinted(node.value), q.rational(1, 100));
  if (node.kind !== "number" || node.value.d !== 1n) return undefined;
  const zeros = /0*$/.exec(node.value.n.toString())?.[0].length ?? 0;
  return { value: node.value, unit: tenTo(node.value.n === 0n ? 0 : zeros) };
}

/**
 * Whether two values agree when rounded to `places` decimals. Values that both round to zero have to agree in as many
 * significant digits instead, so that 1e-9 is not 2e-9.
 */
export function agreeTo(a: Rational, b: Rational, places: number): boolean {
  const digits = Math.max(0, Math.min(300, Math.floor(places)));
  const unit = tenTo(-digits);
  const round = (value: Rational): bigint => q.floor(q.add(q.divide(value, unit), q.HALF));
  const x = round(a);
  const y = round(b);
  if (x === 0n && y === 0n) {
    const size = q.compare(q.absolute(a), q.absolute(b)) > 0 ? q.absolute(a) : q.absolute(b);
    return q.compare(q.absolute(q.subtract(a, b)), q.multiply(size, unit)) <= 0;
  }
  return x === y || q.compare(q.absolute(q.subtract(a, b)), q.multiply(unit, q.HALF)) <= 0;
}
