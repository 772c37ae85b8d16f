/** Several solutions written one after the other: `a = 1, b = 2; a = 3, b = 4`, `x = y = 2`, `A(1, 2), B(3, 4)`. */
import { show } from "../tree/show.ts";
import { symbol, type ListNode, type Node, type RelationNode } from "../tree/node.ts";
import { anywhere } from "../tree/walk.ts";
import { isVariable } from "./assignment.ts";

/** Splits a node into its solutions in the form in which `other` writes them. */
export function asSolutions(node: Node, other: Node): Node {
  if (node.kind === "relation") return isSystem(other) ? (spread(node) ?? node) : node;
  if (node.kind !== "list") return node;
  const items = node.items.every(isLabel) ? node.items.map(labelled) : node.items.map(namedPoint);
  // Compare `x_1 = 1, y_1 = 2; x_2 = 3, y_2 = 4` with solutions without numbers.
  const isNumbered = hasSubscript(node) && !hasSubscript(other);
  const solutions = grouped({ ...node, items: isNumbered ? items.map(withoutSubscript) : items });
  if (solutions.items[0]?.kind === "list") return solutions;
  // Compare `x_1 = 7, x_2 = -4` with `x = 7` or `x = -4`.
  const isOneUnknown = isNumbered && isSystem(other) && new Set(solutions.items.map(nameOf)).size === 1;
  return isOneUnknown ? solutions : { ...node, items };
}

const isSystem = (node: Node): boolean =>
  node.kind === "tuple" ||
  (node.kind === "list" && node.items.length > 1 && node.items.every((item) => item.kind === "relation"));

/** Returns `x = y = z = 2` as an equation for each variable. */
function spread(node: RelationNode): Node | undefined {
  if (node.operands.length < 3 || !node.operators.every((operator) => operator === "=")) return undefined;
  const names = node.operands.filter((operand) => operand.kind === "symbol");
  const values = node.operands.filter((operand) => operand.kind !== "symbol");
  const [value] = values;
  if (!value || values.length > 1 || new Set(names.map(show)).size !== names.length || hasRelation(value))
    return undefined;
  return { kind: "list", join: "and", items: names.map((name) => equation(name, value)) };
}

const hasSubscript = anywhere((part) => part.kind === "symbol" && /_\d+$/.test(part.name));

function withoutSubscript(item: Node): Node {
  const name = item.kind === "relation" ? item.operands[0] : undefined;
  if (item.kind !== "relation" || name?.kind !== "symbol") return item;
  return { ...item, operands: [symbol(name.name.replace(/_\d+$/, "")), ...item.operands.slice(1)] };
}

const hasRelation = anywhere((part) => part.kind === "relation");

/** Returns a list whose names begin again after each solution, as the list of its solutions. */
function grouped(list: ListNode): ListNode {
  const names = list.items.map(nameOf);
  const [first] = names;
  const width = names.indexOf(first, 1);
  if (first === undefined || width < 2 || names.includes(undefined) || names.length % width !== 0) return list;
  const groups: Node[] = [];
  for (let at = 0; at < names.length; at += width) {
    const part = names.slice(at, at + width);
    if (new Set(part).size !== width || part.some((name) => !names.slice(0, width).includes(name))) return list;
    groups.push({ kind: "list", join: "and", items: list.items.slice(at, at + width) });
  }
  return { kind: "list", join: "or", items: groups };
}

function nameOf(item: Node): string | undefined {
  if (item.kind !== "relation" || item.operators.length !== 1 || item.operators[0] !== "=") return undefined;
  const name = item.operands[0] as Node;
  return isVariable(name) ? show(name) : undefined;
}

/** Returns true for `x: 3` in `x: 3, y: 5`. */
export function isLabel(item: Node): item is Extract<Node, { kind: "ratio" }> {
  return (
    item.kind === "ratio" &&
    item.parts.length === 2 &&
    item.parts[0]?.kind === "symbol" &&
    !hasSymbol(item.parts[1] as Node)
  );
}

const hasSymbol = anywhere((part) => part.kind === "symbol");

function labelled(item: Node): Node {
  return isLabel(item) ? equation(item.parts[0] as Node, item.parts[1] as Node) : item;
}

/** Reads `A(1, 2)` among other items as the point A. */
function namedPoint(item: Node): Node {
  if (item.kind !== "multiply" || item.factors.length !== 2) return item;
  const [name, point] = item.factors as [Node, Node];
  const isPoint = name.kind === "symbol" && /^[A-Z](?:_\w+)?'*$/.test(name.name) && point.kind === "tuple";
  return isPoint ? equation(symbol(name.name), point) : item;
}

function equation(name: Node, value: Node): RelationNode {
  return { kind: "relation", operators: ["="], operands: [name, value] };
}
