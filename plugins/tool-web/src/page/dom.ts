import { type ChildNode, Element, type ParentNode, Text } from "domhandler";

/** Nodes that take the place of a node: itself, its children, others, or none. */
export type Replacement = readonly ChildNode[];

/**
 * Replaces nodes below `root`, from the innermost to the outermost: `replace` receives an element after its children were replaced. Needs linear time;
 * removing or unwrapping elements one by one would need quadratic time for an element with many children. Does not recurse.
 */
export function rewriteTree(root: ParentNode, replace: (node: ChildNode) => Replacement): void {
  const stack: { node: ParentNode; next: number; children: ChildNode[] }[] = [{ node: root, next: 0, children: [] }];
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const child = frame.node.children[frame.next++];
    if (child instanceof Element) {
      stack.push({ node: child, next: 0, children: [] });
    } else if (child !== undefined) {
      frame.children = append(frame.children, replace(child));
    } else {
      setChildren(frame.node, frame.children);
      stack.pop();
      const parent = stack.at(-1);
      if (parent !== undefined) parent.children = append(parent.children, replace(frame.node as Element));
    }
  }
}

/** Sets the children of a node, and their links. */
export function setChildren(node: ParentNode, children: readonly ChildNode[]): void {
  node.children = [...children];
  for (const [index, child] of children.entries()) {
    child.parent = node;
    child.prev = children[index - 1] ?? null;
    child.next = children[index + 1] ?? null;
  }
}

/** Creates an element. Children move to it. */
export function createElement(
  name: string,
  attributes: Record<string, string>,
  children: readonly ChildNode[],
): Element {
  const element = new Element(name, attributes);
  setChildren(element, children);
  return element;
}

/** Copies nodes with everything below them. */
export const cloneNodes = (nodes: readonly ChildNode[]): ChildNode[] => nodes.map((node) => node.cloneNode(true));

/** Text below a node. A line break is a newline. */
export function textOf(root: ParentNode): string {
  const parts: string[] = [];
  const pending: ChildNode[] = root.children.toReversed();
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node instanceof Text) parts.push(node.data);
    else if (node instanceof Element && node.name === "br") parts.push("\n");
    else if (node instanceof Element) for (const child of node.children.toReversed()) pending.push(child);
  }
  return parts.join("");
}

/** Elements below a node with one of these names, in the order of the document. */
export function elementsBelow(root: ParentNode, names?: ReadonlySet<string>): Element[] {
  const found: Element[] = [];
  const pending: ChildNode[] = root.children.toReversed();
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (!(node instanceof Element)) continue;
    if (names === undefined || names.has(node.name)) found.push(node);
    for (const child of node.children.toReversed()) pending.push(child);
  }
  return found;
}

/** Appends many nodes; `push(...nodes)` has a limit. Large lists take the place of an empty one. */
function append(list: ChildNode[], nodes: readonly ChildNode[]): ChildNode[] {
  if (list.length === 0) return [...nodes];
  for (const node of nodes) list.push(node);
  return list;
}
