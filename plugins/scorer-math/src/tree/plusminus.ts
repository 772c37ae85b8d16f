/** `a ± b` stands for two values. */
import { negated, type Node } from "./node.ts";
import { anywhere, mapChildren } from "./walk.ts";

export const hasPlusMinus: (node: Node) => boolean = anywhere((part) => part.kind === "plusminus");

/** Returns the expressions with every upper sign and with every lower sign. */
export function bothSigns(node: Node): readonly [Node, Node] {
  return [withSign(node, 1), withSign(node, -1)];
}

function withSign(node: Node, sign: 1 | -1): Node {
  const inner = mapChildren(node, (child) => withSign(child, sign));
  if (inner.kind !== "plusminus") return inner;
  return inner.first === sign ? inner.value : negated(inner.value);
}
