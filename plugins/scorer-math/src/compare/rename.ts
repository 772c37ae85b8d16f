/** Variables matched by position: the n-th new name becomes `v n`. */
import type { Node } from "../tree/node.ts";
import { mapChildren, variables } from "../tree/walk.ts";

export function renamed(node: Node): Node {
  const names = new Map(
    [...variables(node)].filter((name) => !name.endsWith("()")).map((name, i) => [name, `v${i + 1}`]),
  );
  const rename = (part: Node): Node =>
    part.kind === "symbol" ? { kind: "symbol", name: names.get(part.name) ?? part.name } : mapChildren(part, rename);
  return rename(node);
}
