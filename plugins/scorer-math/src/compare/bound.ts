/**
 * Names of arguments in definitions: `f(x) = x^2` and `f(t) = t^2` define the same function, `f(2) = 3` and `f(3) = 3` do
 * not.
 */
import { symbol, type Node, type RelationNode } from "../tree/node.ts";
import { children, mapChildren, some, variables } from "../tree/walk.ts";

/** Head of a definition: the function, or the letter before an index, and the names of its arguments. */
type Head = { readonly name: string; readonly names: readonly string[]; readonly isIndexed: boolean };

/** Names that stand for any argument even where the value does not mention them: `W(n) = 1`. A capital letter is an event or a point. */
const ANY = /^(?:[i-nr-z]|theta|phi)$/;
const INDEXED = /^([A-Za-z])_([i-nr-t])((?:[+-]\d)?)$/;

/** Returns the answer with the names of its arguments changed to those of the reference, where both define the same functions. */
export function withArgumentsOf(expected: Node, answer: Node): Node {
  const wanted = headsOf(expected);
  if (wanted.length === 0) return answer;
  const present = headsOf(answer);
  if (present.length === 0) return withoutArgument(expected, answer);
  const rename = (statement: Node): Node => {
    const head = statement.kind === "relation" ? headOf(statement) : undefined;
    const other = head && wanted.find(({ name, names }) => name === head.name && names.length === head.names.length);
    return head && other ? renamed(statement, head, other) : statement;
  };
  return answer.kind === "list" ? { ...answer, items: answer.items.map(rename) } : rename(answer);
}

function headsOf(node: Node): readonly Head[] {
  if (node.kind === "list") return node.items.flatMap((item) => (item.kind === "relation" ? headsOf(item) : []));
  const head = node.kind === "relation" ? headOf(node) : undefined;
  return head ? [head] : [];
}

function headOf({ operators, operands }: RelationNode): Head | undefined {
  const [first, ...others] = operands as [Node, ...Node[]];
  if (operators[0] !== "=") return undefined;
  const mentions = (name: string): boolean => others.some((other) => some(other, (part) => uses(part, name)));
  if (first.kind === "symbol") {
    const [, letter = "", index = ""] = INDEXED.exec(first.name) ?? [];
    return letter !== "" && mentions(index) ? { name: letter, names: [index], isIndexed: true } : undefined;
  }
  if (first.kind !== "call" || !first.name.endsWith("()")) return undefined;
  const names = first.args.map((arg) => (arg.kind === "symbol" ? arg.name : ""));
  const areBound = names.every((name) => /^[a-z]+$/.test(name) && (ANY.test(name) || mentions(name)));
  return areBound && new Set(names).size === names.length && names.length > 0
    ? { name: first.name, names, isIndexed: false }
    : undefined;
}

function uses(part: Node, name: string): boolean {
  return part.kind === "symbol" && (part.name === name || INDEXED.exec(part.name)?.[2] === name);
}

/** Returns a statement with other names of its arguments; as it is where a new name already means something else in it. */
function renamed(statement: Node, head: Head, other: Head): Node {
  if (head.names.join() === other.names.join()) return statement;
  const isTaken = other.names.some((name) => !head.names.includes(name) && some(statement, (part) => uses(part, name)));
  if (isTaken || head.isIndexed !== other.isIndexed) return statement;
  const newName = (name: string): string => other.names[head.names.indexOf(name)] ?? name;
  const rename = (node: Node): Node => {
    if (node.kind !== "symbol") return mapChildren(node, rename);
    const [, letter = "", index = "", shift = ""] = head.isIndexed ? (INDEXED.exec(node.name) ?? []) : [];
    return symbol(letter === "" ? newName(node.name) : `${letter}_${newName(index)}${shift}`);
  };
  return rename(statement);
}

/** Returns `V = \pi r^2` as `V(r) = \pi r^2` beside a reference with the argument. */
function withoutArgument(expected: Node, answer: Node): Node {
  if (expected.kind !== "relation" || answer.kind !== "relation") return answer;
  const [head, name] = [expected.operands[0] as Node, answer.operands[0] as Node];
  const isSame = head.kind === "call" && name.kind === "symbol" && head.name === `${name.name}()`;
  const known = isSame ? new Set(answer.operands.slice(1).flatMap((side) => [...variables(side)])) : undefined;
  const isWhole = known !== undefined && children(head).every((arg) => arg.kind === "symbol" && known.has(arg.name));
  return isWhole ? { ...answer, operands: [head, ...answer.operands.slice(1)] } : answer;
}
