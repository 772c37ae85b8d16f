/** Traversals of the expression tree. The reader bounds its depth, so plain recursion is safe. */
import type { Node } from "./node.ts";

/** Returns the direct subexpressions of a node, in order. */
export function children(node: Node): readonly Node[] {
  switch (node.kind) {
    case "add":
      return node.terms;
    case "multiply":
      return node.factors;
    case "power":
      return [node.base, node.exponent];
    case "call":
      return node.args;
    case "plusminus":
    case "percent":
    case "quantity":
      return [node.value];
    case "ratio":
      return node.parts;
    case "relation":
      return node.operands;
    case "list":
    case "tuple":
    case "set":
      return node.items;
    case "builder":
      return [node.element, node.condition];
    case "setOperation":
      return node.sets;
    case "matrix":
      return node.rows.flat();
    default:
      return NONE;
  }
}

const NONE: readonly Node[] = [];

/** Returns the node with each direct subexpression replaced. */
export function mapChildren(node: Node, f: (child: Node) => Node): Node {
  switch (node.kind) {
    case "add":
      return { ...node, terms: node.terms.map(f) };
    case "multiply":
      return { ...node, factors: node.factors.map(f) };
    case "power":
      return { ...node, base: f(node.base), exponent: f(node.exponent) };
    case "call":
      return { ...node, args: node.args.map(f) };
    case "plusminus":
    case "percent":
    case "quantity":
      return { ...node, value: f(node.value) };
    case "ratio":
      return { ...node, parts: node.parts.map(f) };
    case "relation":
      return { ...node, operands: node.operands.map(f) };
    case "list":
    case "tuple":
    case "set":
      return { ...node, items: node.items.map(f) };
    case "builder":
      return { ...node, element: f(node.element), condition: f(node.condition) };
    case "setOperation":
      return { ...node, sets: node.sets.map(f) };
    case "matrix":
      return { ...node, rows: node.rows.map((row) => row.map(f)) };
    default:
      return node;
  }
}

/** Whether the node or a subexpression satisfies the predicate. */
export function some(node: Node, predicate: (node: Node) => boolean): boolean {
  if (predicate(node)) return true;
  for (const child of children(node)) if (some(child, predicate)) return true;
  return false;
}

/** Returns a cached form of `some` for a predicate that is often evaluated. Trees are immutable. */
export function anywhere(predicate: (node: Node) => boolean): (node: Node) => boolean {
  const known = new WeakMap<Node, boolean>();
  return (node) => {
    let result = known.get(node);
    if (result === undefined) {
      result = some(node, predicate);
      known.set(node, result);
    }
    return result;
  };
}

/** Returns the names of the variables in order of first appearance; unknown functions are written `f()`. */
export function variables(node: Node, found: Set<string> = new Set()): Set<string> {
  if (node.kind === "symbol") found.add(node.name);
  if (node.kind === "call" && node.name.endsWith("()")) found.add(node.name);
  for (const child of children(node)) variables(child, found);
  return found;
}

/** Returns 1 or -1 for an infinity, 0 for any other node. */
export function infinitySign(node: Node): -1 | 0 | 1 {
  if (node.kind === "constant" && node.name === "infinity") return 1;
  if (node.kind !== "multiply" || node.factors.length !== 2) return 0;
  const [minus, infinite] = node.factors as [Node, Node];
  return minus.kind === "number" && minus.value.n < 0n && infinite.kind === "constant" && infinite.name === "infinity"
    ? -1
    : 0;
}

/** Returns the factors of a product, also of the products in it: `-3j` is a product in a product. */
export function factorsOf(node: Node): readonly Node[] {
  return node.kind === "multiply" ? node.factors.flatMap(factorsOf) : [node];
}
