/** Conditions in words after a value: `42 \text{ if } p, 5 \text{ otherwise}`. */
import type { Node } from "../tree/node.ts";
import { variables } from "../tree/walk.ts";

const MARKUP = /\\(?:text|mathrm|textrm|mbox)(?![a-z])|[{}$~]|\\[,;: ]/g;
/** Words that limit a value to some cases. "for all x" and "for each child" do not. */
const LIMITS =
  /^[\s,;(]*(?:(?:if|unless|when|whenever|otherwise|else|provided|assuming|given)\b|for\b(?!\s+(?:all|any|every|each|the|an?|some|\d)\b)(?=.*(?:[=<>]|\\(?:[lg](?:eq?|t)|neq?|in)(?![a-z])|\b(?:is|are|odd|even|positive|negative)\b)))/;
const ALTERNATIVE = /\b(?:otherwise|else)\b|[,;]\s*(?:and\s+|or\s+)?[-+\\]?[\w^{}\\]{1,12}\s+(?:if|when|for)\b/;
const FILLER = /\b(?:if|when|whenever|for|is|are|an?|the|and|provided|that|given|assuming|cases?|of|with)\b/g;

/** Whether a node has other values in other cases: `42 \text{ if } p, 5 \text{ otherwise}`. */
export function hasAlternative(node: Node): boolean {
  return ALTERNATIVE.test(wordsBehind(node) ?? "");
}

function wordsBehind(node: Node): string | undefined {
  const words = node.kind === "call" && node.name === "where" ? node.args[1] : undefined;
  return words?.kind === "text" ? words.value.replace(MARKUP, " ") : undefined;
}

/**
 * Returns the condition under which alone a node has its value, in one spelling; "" for a node without one. A condition
 * on the variables of the value states its domain and changes nothing.
 */
export function conditionOf(node: Node): string {
  const plain = wordsBehind(node);
  if (node.kind !== "call" || plain === undefined) return "";
  const statement = node.args[0] as Node;
  const value = statement.kind === "relation" ? (statement.operands.at(-1) as Node) : statement;
  const isLimited = ALTERNATIVE.test(plain) || (LIMITS.test(plain) && variables(value).size === 0);
  if (!isLimited) return "";
  return plain
    .split(/[,;]/)
    .map((clause) => clause.replace(FILLER, " ").trim().split(/\s+/).sort().join(" "))
    .join(";");
}
