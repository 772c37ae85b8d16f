/** Solution sets of polynomial, rational and absolute-value inequalities in one variable. */
import * as q from "../exact/rational.ts";
import type { Rational } from "../exact/rational.ts";
import { NotScalar, Undefined } from "../normal/errors.ts";
import { Normaliser } from "../normal/normaliser.ts";
import { atom, type Polynomial } from "../normal/polynomial.ts";
import { difference, negated, number, ONE_NODE, power, product, quotient, sum, type Node } from "../tree/node.ts";
import { mapChildren, some } from "../tree/walk.ts";
import type { Work } from "../work.ts";
import { approximate } from "../numeric/approximate.ts";
import { pointRegion, type End, type Region } from "./region.ts";

export type Comparison = "=" | "!=" | "<" | "<=";

/** Returns the x with `expression` < 0 (or <=, =, !=); undefined when the zeros cannot be found exactly. */
export function solve(
  expression: Node,
  comparison: Comparison,
  variable: string,
  work: Work,
  depth = 0,
): Region | undefined {
  const inner = findAbsolute(expression, variable);
  if (inner) {
    if (depth > 2) return undefined;
    const isInner = (node: Node): boolean => node.kind === "call" && node.name === "abs" && node.args[0] === inner;
    const cases = [
      [
        solve(negated(inner), "<=", variable, work, depth + 1),
        solve(replace(expression, isInner, inner), comparison, variable, work, depth + 1),
      ],
      [
        solve(inner, "<", variable, work, depth + 1),
        solve(replace(expression, isInner, negated(inner)), comparison, variable, work, depth + 1),
      ],
    ];
    const parts: Region[] = [];
    for (const [domain, solution] of cases) {
      if (!domain || !solution) return undefined;
      parts.push({ kind: "intersection", parts: [domain, solution] });
    }
    return { kind: "union", parts };
  }
  const zeros = findZeros(expression, variable, work);
  if (!zeros) return undefined;
  return fromSigns(expression, zeros.zeros, zeros.poles, comparison, variable, work);
}

function findAbsolute(node: Node, variable: string): Node | undefined {
  let found: Node | undefined;
  some(node, (part) => {
    if (part.kind !== "call" || part.name !== "abs" || !uses(part, variable)) return false;
    found = part.args[0];
    return true;
  });
  return found;
}

function uses(node: Node, variable: string): boolean {
  return some(node, (part) => part.kind === "symbol" && part.name === variable);
}

function replace(node: Node, isTarget: (node: Node) => boolean, by: Node): Node {
  return isTarget(node) ? by : mapChildren(node, (child) => replace(child, isTarget, by));
}

function at(expression: Node, variable: string, value: Node): Node {
  return replace(expression, (node) => node.kind === "symbol" && node.name === variable, value);
}

function findZeros(
  expression: Node,
  variable: string,
  work: Work,
): { zeros: readonly End[]; poles: readonly End[] } | undefined {
  try {
    const normaliser = new Normaliser(work);
    const { top, bottom } = normaliser.normalise(expression);
    const constantFree = (p: Polynomial): boolean => p.size === 1 && p.has("");
    const lowest = lowestPower(top, variable);
    const cleared = lowest < 0 ? normaliser.ring.multiply(top, atom(variable, q.rational(-lowest))) : top;
    const zeros = zerosOf(cleared, variable, expression, constantFree(bottom) && lowest >= 0, work);
    const poles = constantFree(bottom) ? [] : zerosOf(bottom, variable, undefined, false, work);
    const atZero = lowest < 0 ? ends([number(0)], work) : [];
    return zeros && poles && atZero && { zeros, poles: [...poles, ...atZero] };
  } catch (error) {
    if (error instanceof NotScalar || error instanceof Undefined) return undefined;
    throw error;
  }
}

/** Returns the most negative whole power of the variable in a polynomial's terms, or 0. */
function lowestPower(p: Polynomial, variable: string): number {
  let lowest = 0;
  for (const { monomial } of p.values()) {
    for (const [name, exponent] of monomial)
      if (name === variable && q.isInteger(exponent) && exponent.n > -50n)
        lowest = Math.min(lowest, Number(exponent.n));
  }
  return lowest;
}

/**
 * Returns the zeros of a polynomial; with coefficients that are no rationals only up to degree two, from the expression's
 * values.
 */
function zerosOf(
  p: Polynomial,
  variable: string,
  expression: Node | undefined,
  isWhole: boolean,
  work: Work,
): readonly End[] | undefined {
  let degree = 0;
  const coefficients = new Map<number, Rational>();
  let isRational = true;
  for (const { monomial, coefficient } of p.values()) {
    let k = 0;
    for (const [name, exponent] of monomial) {
      if (name === variable && q.isInteger(exponent) && exponent.n > 0n && exponent.n < 50n) k = Number(exponent.n);
      else if (name === variable || (name.includes(variable) && /[[{|^]/.test(name))) return undefined;
      else isRational = false;
    }
    degree = Math.max(degree, k);
    coefficients.set(k, coefficient);
  }
  if (isRational)
    return rationalZeros(
      Array.from({ length: degree + 1 }, (_, k) => coefficients.get(k) ?? q.ZERO),
      work,
    );
  if (!expression || !isWhole || degree > 2) return undefined;
  const c = at(expression, variable, number(0));
  const plus = at(expression, variable, ONE_NODE);
  const minus = at(expression, variable, number(-1));
  if (degree < 2) return ends([quotient(negated(c), difference(plus, c))], work);
  const a = difference(product([number(q.HALF), sum([plus, minus])]), c);
  const b = product([number(q.HALF), difference(plus, minus)]);
  return quadraticZeros(a, b, c, work);
}

function rationalZeros(coefficients: Rational[], work: Work): readonly End[] | undefined {
  const zeros: Node[] = [];
  const rest = [...coefficients];
  while (rest.length > 3) {
    const root = findRationalRoot(rest, work);
    if (!root) return undefined;
    zeros.push(number(root));
    deflate(rest, root);
  }
  const [c, b, a] = rest as [Rational, Rational?, Rational?];
  if (a && b) {
    const last = quadraticZeros(number(a), number(b), number(c), work);
    const first = ends(zeros, work);
    return last && first && [...first, ...last];
  }
  if (b) zeros.push(number(q.negate(q.divide(c, b))));
  return ends(zeros, work);
}

function quadraticZeros(a: Node, b: Node, c: Node, work: Work): readonly End[] | undefined {
  const discriminant = difference(power(b, number(2)), product([number(4), a, c]));
  const value = approximate(discriminant, work);
  if (!value) return undefined;
  if (value.n < 0n) return [];
  const root = power(discriminant, number(q.HALF));
  const over = product([number(2), a]);
  return ends(
    value.n === 0n
      ? [quotient(negated(b), over)]
      : [quotient(sum([negated(b), root]), over), quotient(difference(negated(b), root), over)],
    work,
  );
}

function ends(nodes: readonly Node[], work: Work): readonly End[] | undefined {
  const out: End[] = [];
  for (const node of nodes) {
    const end = endOf(node, work);
    if (!end) return undefined;
    out.push(end);
  }
  return out;
}

/** Returns an end of an interval from a constant expression. */
export function endOf(node: Node, work: Work): End | undefined {
  const value = approximate(node, work);
  if (!value) return undefined;
  const approx = toDouble(value);
  return Number.isFinite(approx) ? { node, approx } : undefined;
}

function toDouble(value: Rational): number {
  const scaled = (value.n * (1n << 80n)) / value.d;
  return Number(scaled) / 2 ** 80;
}

/** Returns a root p/q with p dividing the last and q the first coefficient, both below a bound. */
function findRationalRoot(coefficients: readonly Rational[], work: Work): Rational | undefined {
  if (coefficients[0]?.n === 0n) return q.ZERO;
  const scale = coefficients.reduce((lcm, { d }) => lcm * d, 1n);
  const first = q.multiply(coefficients[0] as Rational, q.rational(scale)).n;
  const last = q.multiply(coefficients.at(-1) as Rational, q.rational(scale)).n;
  for (const bottom of divisors(last)) {
    for (const top of divisors(first)) {
      for (const root of [q.rational(top, bottom), q.rational(-top, bottom)]) {
        work.spend(4 * coefficients.length);
        if (coefficients.reduceRight((value, c) => q.add(q.multiply(value, root), c), q.ZERO).n === 0n) return root;
      }
    }
  }
  return undefined;
}

function divisors(n: bigint): readonly bigint[] {
  const size = n < 0n ? -n : n;
  const out: bigint[] = [];
  for (let k = 1n; k <= 200n && k <= size; k++) if (size % k === 0n) out.push(k);
  return out;
}

/** Divides in place by x - root (Horner). */
function deflate(coefficients: Rational[], root: Rational): void {
  let carry = q.ZERO;
  for (let k = coefficients.length - 1; k >= 0; k--) {
    const value = q.add(coefficients[k] as Rational, q.multiply(carry, root));
    coefficients[k] = carry;
    carry = value;
  }
  coefficients.pop();
}

/** Returns the region from the sign of the expression between its zeros and poles. */
function fromSigns(
  expression: Node,
  zeros: readonly End[],
  poles: readonly End[],
  comparison: Comparison,
  variable: string,
  work: Work,
): Region | undefined {
  const all = [...zeros.map((end) => ({ end, isPole: false })), ...poles.map((end) => ({ end, isPole: true }))].sort(
    (a, b) => a.end.approx - b.end.approx,
  );
  const marks = all.filter(
    (mark, i) =>
      i === 0 ||
      Math.abs((all[i - 1] as { end: End }).end.approx - mark.end.approx) >
        1e-12 * Math.max(1, Math.abs(mark.end.approx)),
  );
  const parts: Region[] = [];
  for (let i = 0; i <= marks.length; i++) {
    const low = marks[i - 1]?.end;
    const high = marks[i]?.end;
    const sample = low && high ? (low.approx + high.approx) / 2 : low ? low.approx + 1 : high ? high.approx - 1 : 0;
    const value = approximate(
      at(expression, variable, number(q.rational(BigInt(Math.round(sample * 2 ** 40)), 2n ** 40n))),
      work,
    );
    if (!value) return undefined;
    const isIn =
      comparison === "!="
        ? value.n !== 0n
        : comparison === "="
          ? value.n === 0n
          : value.n < 0n || (comparison === "<=" && value.n === 0n);
    if (isIn)
      parts.push({
        kind: "interval",
        lowClosed: false,
        highClosed: false,
        ...(low ? { low } : {}),
        ...(high ? { high } : {}),
      });
  }
  if (comparison === "<=" || comparison === "=") {
    for (const { end, isPole } of marks)
      if (!isPole && !poles.some((pole) => Math.abs(pole.approx - end.approx) < 1e-12)) parts.push(pointRegion(end));
  }
  return { kind: "union", parts };
}
