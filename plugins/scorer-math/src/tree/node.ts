/** The exact expression tree that a reader makes of an answer, and its constructors. */
import { defined } from "@mrlm/kit";
import { MINUS_ONE, ONE, multiply as times, negate as minus, rational, type Rational } from "../exact/rational.ts";
import type { Unit } from "../units/unit.ts";

export type ConstantName = "pi" | "e" | "i" | "infinity";
export type RelationOperator =
  | "="
  | "!="
  | "<"
  | "<="
  | ">"
  | ">="
  | "~"
  | "in"
  | "notin"
  | "subset"
  | "equiv"
  | "to"
  | "parallel"
  | "perpendicular"
  | "divides";
export type SetName = "reals" | "integers" | "naturals" | "rationals" | "complexes" | "empty";

/**
 * Operation within a literal. Comparisons use the value alone; the form of an answer depends on how it is written. `computed` is a quotient of quotients or a count of dozens,
 * `isNormal` states that the mantissa of scientific notation is at least 1 and below 10.
 */
export type Notation =
  | { readonly kind: "fraction"; readonly top: bigint; readonly bottom: bigint }
  | { readonly kind: "mixed" | "computed" }
  | { readonly kind: "based"; readonly base: number }
  | { readonly kind: "scientific"; readonly isNormal: boolean };
/** `decimals` is the number of digits printed after the point: it marks a literal that may stand for a rounded value. */
export type NumberNode = {
  readonly kind: "number";
  readonly value: Rational;
  readonly decimals?: number;
  readonly notation?: Notation;
};
export type ListNode = {
  readonly kind: "list";
  readonly items: readonly Node[];
  readonly join: "comma" | "and" | "or";
};
export type RelationNode = {
  readonly kind: "relation";
  readonly operators: readonly RelationOperator[];
  readonly operands: readonly Node[];
};
/** Items in round, square or angle brackets. Two items in round or square ones may also be the ends of an interval. */
export type TupleNode = {
  readonly kind: "tuple";
  readonly items: readonly Node[];
  readonly open: Bracket;
  readonly close: Bracket;
};
export type Bracket = "round" | "square" | "angle";
export type QuantityNode = { readonly kind: "quantity"; readonly value: Node; readonly unit: Unit };
export type MatrixNode = { readonly kind: "matrix"; readonly rows: readonly (readonly Node[])[] };

export type Node =
  | NumberNode
  | { readonly kind: "symbol"; readonly name: string }
  | { readonly kind: "constant"; readonly name: ConstantName }
  | { readonly kind: "add"; readonly terms: readonly Node[] }
  | { readonly kind: "multiply"; readonly factors: readonly Node[] }
  | { readonly kind: "power"; readonly base: Node; readonly exponent: Node }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Node[] }
  | { readonly kind: "plusminus"; readonly value: Node; readonly first: 1 | -1 }
  | { readonly kind: "percent"; readonly value: Node }
  | QuantityNode
  | { readonly kind: "ratio"; readonly parts: readonly Node[] }
  | RelationNode
  | ListNode
  | TupleNode
  | { readonly kind: "set"; readonly items: readonly Node[] }
  | { readonly kind: "builder"; readonly element: Node; readonly condition: Node }
  | {
      readonly kind: "setOperation";
      readonly name: "union" | "intersection" | "difference";
      readonly sets: readonly Node[];
    }
  | { readonly kind: "namedSet"; readonly name: SetName }
  | MatrixNode
  | { readonly kind: "text"; readonly value: string };

export function number(value: Rational | bigint | number, decimals?: number, notation?: Notation): NumberNode {
  const exact = typeof value === "object" ? value : rational(value);
  return {
    kind: "number",
    value: exact,
    ...defined({ decimals, notation }),
  };
}

export const ONE_NODE: NumberNode = number(ONE);
export const PI: Node = { kind: "constant", name: "pi" };
export const E: Node = { kind: "constant", name: "e" };
export const INFINITY: Node = { kind: "constant", name: "infinity" };

export function symbol(name: string): Node {
  return { kind: "symbol", name };
}

export function text(value: string): Node {
  return { kind: "text", value };
}

export function sum(terms: readonly Node[]): Node {
  return terms.length === 1 ? (terms[0] as Node) : { kind: "add", terms };
}

export function product(factors: readonly Node[]): Node {
  return factors.length === 1 ? (factors[0] as Node) : { kind: "multiply", factors };
}

export function power(base: Node, exponent: Node): Node {
  return { kind: "power", base, exponent };
}

export function call(name: string, ...args: Node[]): Node {
  return { kind: "call", name, args };
}

/** Returns -a; a literal keeps its printed precision and its notation, a quantity its unit, a percentage its sign. */
export function negated(a: Node): Node {
  if (a.kind === "number") return { ...a, value: minus(a.value) };
  if (a.kind === "quantity" || a.kind === "percent") return { ...a, value: negated(a.value) };
  return { kind: "multiply", factors: [number(MINUS_ONE), a] };
}

/** Returns a/b; a quotient of exact literals becomes one literal. */
export function quotient(a: Node, b: Node): Node {
  if (
    a.kind === "number" &&
    b.kind === "number" &&
    b.value.n !== 0n &&
    a.decimals === undefined &&
    b.decimals === undefined
  ) {
    const isFraction = [a, b].every(({ value, notation }) => value.d === 1n && notation === undefined);
    return number(
      times(a.value, rational(b.value.d, b.value.n)),
      undefined,
      isFraction ? { kind: "fraction", top: a.value.n, bottom: b.value.n } : { kind: "computed" },
    );
  }
  return { kind: "multiply", factors: [a, power(b, number(MINUS_ONE))] };
}

export function difference(a: Node, b: Node): Node {
  return { kind: "add", terms: [a, negated(b)] };
}
