/** Equations and inequalities: equal when one is a multiple of the other. */
import * as q from "../exact/rational.ts";
import { NotScalar, Undefined } from "../normal/errors.ts";
import { Normaliser } from "../normal/normaliser.ts";
import { keyOf, leadingCoefficient, scale, spell, type Polynomial } from "../normal/polynomial.ts";
import { difference, negated, number, product, type Node, type RelationNode } from "../tree/node.ts";
import { mapChildren, variables } from "../tree/walk.ts";
import { different, equivalent, type Outcome } from "../verdict.ts";
import { approximate } from "../numeric/approximate.ts";
import { compareInOrder } from "./collection.ts";
import type { Context } from "./context.ts";
import { compareExact } from "./scalar.ts";

type Constraint = { readonly operator: "=" | "!=" | "<" | "<="; readonly expression: Node };

/** Returns the constraints of a chain, as expressions compared with zero; undefined for other relations. */
function constraintsOf(node: RelationNode): readonly Constraint[] | undefined {
  const out: Constraint[] = [];
  for (const [i, operator] of node.operators.entries()) {
    const left = node.operands[i] as Node;
    const right = node.operands[i + 1] as Node;
    if (operator === "<" || operator === "<=") out.push({ operator, expression: difference(left, right) });
    else if (operator === ">" || operator === ">=")
      out.push({ operator: operator === ">" ? "<" : "<=", expression: difference(right, left) });
    else if (operator === "=" || operator === "~" || operator === "!=")
      out.push({ operator: operator === "!=" ? "!=" : "=", expression: difference(left, right) });
    else return undefined;
  }
  return out;
}

export function compareRelations(c: Context, expected: RelationNode, answer: RelationNode): Outcome {
  const left = constraintsOf(expected);
  const right = constraintsOf(answer);
  if (!left || !right) {
    if (expected.operators.join() !== answer.operators.join()) return different("relation", "different relations");
    return compareInOrder(c, expected.operands, answer.operands, "sides");
  }
  if (left.length !== right.length) return different("relation", "chains of different length");
  const used = new Set<number>();
  for (const constraint of left) {
    const index = right.findIndex((other, i) => !used.has(i) && isMultiple(c, constraint, other));
    if (index < 0) return different("relation", "no multiple of the reference");
    used.add(index);
  }
  return equivalent("relation", "multiples of each other");
}

/** Whether two constraints are the same up to a factor: positive for inequalities, any but zero for equations. */
function isMultiple(c: Context, a: Constraint, b: Constraint): boolean {
  if (a.operator !== b.operator) return false;
  const isEquation = a.operator === "=" || a.operator === "!=";
  const names = [...variables(a.expression)].sort();
  if (names.join() !== [...variables(b.expression)].sort().join()) return false;
  if (isEquation && sameNumerator(c, a.expression, b.expression)) return true;
  const symbols = names.filter((name) => !name.endsWith("()"));
  if (symbols.length === 0) {
    return isEqual(c, a.expression, b.expression) || (isEquation && isEqual(c, a.expression, negated(b.expression)));
  }
  for (let attempt = 0; attempt < 3; attempt++) {
    const values = new Map(
      symbols.map((name, i) => [name, number(q.rational(BigInt(17 + 12 * i + 5 * attempt), BigInt(7 + 4 * attempt)))]),
    );
    const left = substitute(a.expression, values);
    const right = substitute(b.expression, values);
    const x = approximate(left, c.work);
    const y = approximate(right, c.work);
    if (!x || !y || x.n === 0n || y.n === 0n) continue;
    if (!isEquation && q.sign(x) !== q.sign(y)) return false;
    return isEqual(c, product([a.expression, right]), product([b.expression, left]));
  }
  return isEqual(c, a.expression, b.expression);
}

function isEqual(c: Context, a: Node, b: Node): boolean {
  try {
    return compareExact(c, a, b).verdict === "equivalent";
  } catch (error) {
    if (error instanceof NotScalar) return false;
    throw error;
  }
}

function substitute(node: Node, values: ReadonlyMap<string, Node>): Node {
  if (node.kind === "symbol") return values.get(node.name) ?? node;
  return mapChildren(node, (child) => substitute(child, values));
}

/** Returns the monomial that clears the negative powers of a polynomial's terms. */
function denominators(p: Polynomial): Polynomial {
  const powers = new Map<string, q.Rational>();
  for (const { monomial } of p.values()) {
    for (const [name, exponent] of monomial) {
      const needed = q.negate(exponent);
      if (needed.n > 0n && q.compare(needed, powers.get(name) ?? q.ZERO) > 0) powers.set(name, needed);
    }
  }
  const monomial = [...powers].sort(([a], [b]) => (a < b ? -1 : 1));
  return new Map([[spell(monomial), { monomial, coefficient: q.ONE }]]);
}

/** Returns true for `y = 1/x` and `xy = 1`: the same numerator up to a rational factor. */
function sameNumerator(c: Context, a: Node, b: Node): boolean {
  try {
    const normaliser = new Normaliser(c.work);
    const [left, right] = [a, b].map((node) => normaliser.normalise(node).top);
    if (!left || !right || left.size !== right.size || left.size === 0) return false;
    const whole = (p: Polynomial): Polynomial => normaliser.ring.multiply(p, denominators(p));
    const monic = (p: Polynomial): string => keyOf(scale(p, q.divide(q.ONE, leadingCoefficient(p))));
    return monic(whole(left)) === monic(whole(right));
  } catch (error) {
    if (error instanceof NotScalar || error instanceof Undefined) return false;
    throw error;
  }
}
