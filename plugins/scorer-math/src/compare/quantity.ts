/** Quantities with units. */
import * as q from "../exact/rational.ts";
import { table } from "../table.ts";
import { difference, number, product, quotient, sum, type Node, type QuantityNode } from "../tree/node.ts";
import { some } from "../tree/walk.ts";
import { parseUnit, type Unit } from "../units/unit.ts";
import { different, type Outcome } from "../verdict.ts";
import { asPrinted, type Printed } from "./decimal.ts";
import type { Context } from "./context.ts";

/**
 * Compares quantities. Two units are converted. If one side has no unit, its number is compared with the number before
 * the unit, since answers leave units out.
 */
export function compareQuantities(c: Context, expected: Node, answer: Node): Outcome {
  const left = asQuantity(expected, answer);
  const right = asQuantity(answer, expected);
  if (left.kind === "quantity" && right.kind === "quantity") return compareBoth(c, left, right);
  if (left.kind === "quantity") return c.compare(besides(left, right), right);
  return right.kind === "quantity" ? c.compare(left, besides(right, left)) : c.compare(left, right);
}

/** Returns the value of a quantity in a comparison with a number without unit: the number before its unit, or radians if the other side is a multiple of pi. */
function besides(node: QuantityNode, other: Node): Node {
  const isAngle = node.unit.hasPi && some(other, isInRadians);
  return isAngle ? { kind: "multiply", factors: factorsOf(node) } : node.value;
}

function isInRadians(node: Node): boolean {
  return node.kind === "constant"
    ? node.name === "pi"
    : node.kind === "call" && /^a(?:sin|cos|tan|cot|sec|csc)$/.test(node.name);
}

function compareBoth(c: Context, expected: QuantityNode, answer: QuantityNode): Outcome {
  const a = expected.unit;
  const b = answer.unit;
  const converted = convertTemperature(answer, a);
  if (converted) return c.compare(expected.value, converted);
  if (isPounds(a, b) || isPounds(b, a)) return c.compare(expected.value, answer.value);
  if (a.dimension !== b.dimension) return different("units", "a unit of another kind");
  if (a.hasPi === b.hasPi) {
    // Convert to units of the reference, because its printed precision applies to these units.
    const ratio = q.divide(b.factor, a.factor);
    const scaled = q.equals(ratio, q.ONE) ? answer.value : scaledBy(answer.value, ratio);
    const outcome = c.compare(expected.value, scaled);
    return outcome.method === "exact" || outcome.method === "normal form" ? { ...outcome, method: "units" } : outcome;
  }
  return c.compare(
    { kind: "multiply", factors: factorsOf(expected) },
    { kind: "multiply", factors: factorsOf(answer) },
  );
}

/** Kelvin as (value + shift) * factor. */
const TEMPERATURES: Readonly<Record<string, readonly [shift: q.Rational, factor: q.Rational]>> = table({
  "celsius^1": [q.rational(27315, 100), q.ONE],
  "fahrenheit^1": [q.rational(45967, 100), q.rational(5, 9)],
  "K^1": [q.ZERO, q.ONE],
});

/** Returns a temperature on another scale; undefined when the units are not two different scales. */
function convertTemperature(node: QuantityNode, unit: Unit): Node | undefined {
  const from = TEMPERATURES[node.unit.dimension];
  const to = TEMPERATURES[unit.dimension];
  if (!from || !to || node.unit.dimension === unit.dimension) return undefined;
  const kelvin = product([sum([node.value, number(from[0])]), number(q.multiply(from[1], node.unit.factor))]);
  return difference(quotient(kelvin, number(to[1])), number(to[0]));
}

/** Returns true for `£20` compared with `20 pounds`. */
function isPounds(money: Unit, words: Unit): boolean {
  return money.dimension === "sterling^1" && /^pounds?$/i.test(words.name);
}

function factorsOf(node: QuantityNode): Node[] {
  const pi: Node[] = node.unit.hasPi ? [{ kind: "constant", name: "pi" }] : [];
  return [node.value, number(node.unit.factor), ...pi];
}

function scaledBy(value: Node, ratio: q.Rational): Node {
  const printed: Printed | undefined = asPrinted(value);
  return printed ? number(q.multiply(printed.value, ratio)) : product([number(ratio), value]);
}

/** Reads a quantity: `3 m` is parsed as a product; compared with a quantity of the same dimension, its letters are a unit. */
export function asQuantity(node: Node, other: Node): Node {
  if (node.kind !== "multiply" || other.kind !== "quantity") return node;
  const factors = flattened(node);
  const split = factors.findIndex((factor, i) => i > 0 && unitLetters(factor) !== undefined);
  if (split < 1) return node;
  const letters = factors.slice(split).map(unitLetters);
  if (letters.includes(undefined)) return node;
  const unit: Unit | undefined = parseUnit(spelled(letters as string[]));
  if (!unit || unit.dimension !== other.unit.dimension) return node;
  return { kind: "quantity", value: product(factors.slice(0, split)), unit };
}

function flattened(node: Node): readonly Node[] {
  return node.kind === "multiply" ? node.factors.flatMap(flattened) : [node];
}

/** Returns a letter, or a letter to a whole power, as a unit would be spelled. */
function unitLetters(node: Node): string | undefined {
  if (node.kind === "symbol") return /^[a-zA-Z]$/.test(node.name) ? node.name : undefined;
  if (node.kind !== "power" || node.exponent.kind !== "number" || node.exponent.value.d !== 1n) return undefined;
  const inner = unitLetters(node.base);
  if (inner === undefined) return undefined;
  const [letter, exponent = "1"] = inner.split("^") as [string, string?];
  return `${letter}^${BigInt(exponent) * node.exponent.value.n}`;
}

/** Returns `k m h^-1` as `km h^-1`: letters side by side are one unit up to one with an exponent. */
function spelled(letters: readonly string[]): string {
  return letters
    .map((letter, i) => (i > 0 && (letter.includes("^-") || letters[i - 1]?.includes("^")) ? ` ${letter}` : letter))
    .join("");
}
