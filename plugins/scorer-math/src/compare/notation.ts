/**
 * Notations that mean the same only beside each other: `C(5, 2)` beside a number, `2i + 3j` beside a vector, `[[1, 2],
 * [3, 4]]` beside a matrix, `\vec{v}` beside `v`. Both sides are treated alike, so that the verdict stays symmetric.
 */
import { counted } from "../read/combination.ts";
import { number, product, symbol, type MatrixNode, type Node, type TupleNode } from "../tree/node.ts";
import { anywhere, factorsOf, mapChildren, some } from "../tree/walk.ts";
import { asMatrix, vectorItems } from "./matrix.ts";

/** Returns both sides with ambiguous notation of one side rewritten by the reading of the other side. */
export function unified(expected: Node, answer: Node): readonly [Node, Node] {
  return [beside(expected, answer), beside(answer, expected)];
}

function beside(node: Node, other: Node): Node {
  let out = node;
  if (hasCount(node) && !hasTuple(other)) out = withCounts(out);
  if (hasMark(node) && !hasMark(other) && hasSymbol(other)) out = withoutMarks(out);
  if (namesLength(out) && !namesLength(other)) out = withoutBars(out);
  const length = vectorLength(other);
  const vector = length === undefined ? undefined : asBasisSum(out, length);
  if (vector) return vector;
  return asMatrix(other) ? (asNestedRows(out) ?? out) : out;
}

/** Reads `C(5, 2)` or `P(n, k)` as a count; compared with a point it is a name. */
function countAt(factors: readonly Node[], i: number): TupleNode | undefined {
  const [name, pair] = [factors[i], factors[i + 1]];
  const isPair = pair?.kind === "tuple" && pair.items.length === 2 && pair.open === "round" && pair.close === "round";
  return name?.kind === "symbol" && /^[CP]$/.test(name.name) && isPair ? pair : undefined;
}

const hasTuple = anywhere((part) => part.kind === "tuple");
const hasCount = anywhere((part) => part.kind === "multiply" && part.factors.some((_, i) => countAt(part.factors, i)));

function withCounts(node: Node): Node {
  if (node.kind !== "multiply") return mapChildren(node, withCounts);
  const factors: Node[] = [];
  for (let i = 0; i < node.factors.length; i++) {
    const pair = countAt(node.factors, i);
    const factor = node.factors[i] as Node;
    if (pair) {
      const [size, chosen] = pair.items.map(withCounts) as [Node, Node];
      factors.push(counted((factor as { name: string }).name, size, chosen));
      i++;
    } else factors.push(withCounts(factor));
  }
  return product(factors);
}

/** `\vec{v}`. */
const MARK = /^vec\((\w+)\)$/;

const hasMark = anywhere((part) => part.kind === "symbol" && MARK.test(part.name));

const hasSymbol = anywhere((part) => part.kind === "symbol");

function withoutMarks(node: Node): Node {
  if (node.kind !== "symbol") return mapChildren(node, withoutMarks);
  const vector = MARK.exec(node.name)?.[1];
  return vector === undefined ? node : symbol(vector);
}

/** Returns true for a length such as `|AB|`. */
function isLength(node: Node): boolean {
  const [of] = node.kind === "call" && node.name === "abs" ? node.args : [];
  return (
    of?.kind === "multiply" &&
    of.factors.length === 2 &&
    of.factors.every((factor) => factor.kind === "symbol" && /^[A-Z](?:_\w+)?$/.test(factor.name))
  );
}

/** Returns true for `|AB| = 5`. */
function namesLength(node: Node): boolean {
  return node.kind === "relation" && isLength(node.operands[0] as Node);
}

function withoutBars(node: Node): Node {
  if (node.kind !== "relation") return node;
  return {
    ...node,
    operands: node.operands.map((operand) =>
      operand.kind === "call" && isLength(operand) ? (operand.args[0] as Node) : operand,
    ),
  };
}

function vectorLength(node: Node): number | undefined {
  if (node.kind === "tuple") return node.items.length;
  return node.kind === "matrix" ? vectorItems(node)?.length : undefined;
}

/** Returns the components of a sum of multiples of i, j and k; undefined when a term is none. */
function asBasisSum(node: Node, length: number): TupleNode | undefined {
  if (length < 2 || length > 3 || (node.kind !== "add" && node.kind !== "multiply" && basisIndex(node) === undefined))
    return undefined;
  const items: (Node | undefined)[] = Array.from({ length }, () => undefined);
  for (const term of node.kind === "add" ? node.terms : [node]) {
    const factors = factorsOf(term);
    const at = factors.findIndex((factor) => basisIndex(factor) !== undefined);
    const index = at < 0 ? undefined : basisIndex(factors[at] as Node);
    if (index === undefined || index >= length || items[index]) return undefined;
    const rest = factors.filter((_, i) => i !== at);
    if (rest.some((factor) => some(factor, (part) => basisIndex(part) !== undefined))) return undefined;
    items[index] = rest.length === 0 ? number(1) : product(rest);
  }
  return { kind: "tuple", items: items.map((item) => item ?? number(0)), open: "round", close: "round" };
}

function basisIndex(node: Node): number | undefined {
  if (node.kind === "constant") return node.name === "i" ? 0 : undefined;
  if (node.kind !== "symbol") return undefined;
  return node.name === "j" ? 1 : node.name === "k" ? 2 : undefined;
}

/** Returns a tuple of tuples of one length as the matrix with these rows. */
function asNestedRows(node: Node): MatrixNode | undefined {
  if (node.kind !== "tuple") return undefined;
  const rows = node.items.map((item) => (item.kind === "tuple" ? item.items : []));
  const width = rows[0]?.length ?? 0;
  return width > 0 && rows.every((row) => row.length === width) ? { kind: "matrix", rows } : undefined;
}
