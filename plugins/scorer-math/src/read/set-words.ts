/** Sets of numbers in words: `all real numbers except 2`, `positive integers`, `at least 5`. */
import { number, symbol, type Node, type RelationOperator, type SetName } from "../tree/node.ts";

const QUANTIFIER = String.raw`(?:(?:the\s+)?set\s+of\s+)?(?:all\s+|any\s+|every\s+)?(?:the\s+)?`;
const SET = new RegExp(
  String.raw`^(?:[a-z]\s+(?:is|can\s+be)\s+)?${QUANTIFIER}(?:(positive|negative|non-?\s?negative|non-?\s?positive|non-?\s?zero)\s+)?(?:(integers?|whole numbers?|natural numbers?|rational numbers?|rationals|complex numbers?)|(?:real\s+)?(?:numbers?|values?)|reals)(?:\s+(?:of\s+)?[a-z])?(?:\s+(?:except|but|other than|besides|excluding)(?:\s+for)?\s+(?:[a-z]\s*(?:=|is)\s*)?(.{1,60}))?$`,
  "i",
);
const SIGNS: readonly (readonly [RegExp, RelationOperator])[] = [
  [/^positive$/i, ">"],
  [/^negative$/i, "<"],
  [/^non-?\s?negative$/i, ">="],
  [/^non-?\s?positive$/i, "<="],
  [/^non-?\s?zero$/i, "!="],
];
const BOUND =
  /^(at least|no less than|not less than|at most|no more than|not more than|(?:more|greater|larger|bigger) than or equal to|(?:less|fewer|smaller) than or equal to|(?:more|greater|larger|bigger) than|(?:less|fewer|smaller) than)\s+(.{1,60})$/i;
/** The bounded quantity: `all real numbers x that are`. */
const NUMBERS =
  /^(?:the\s+set\s+of\s+)?(?:all|any|every)\s+(?:the\s+)?(?:real\s+)?(?:numbers?|values?|reals)(?:\s+(?:of\s+)?[a-z])?\s+(?:(?:that|which)\s+(?:are|is)\s+)?(?:strictly\s+)?/i;
const BOUND_AFTER = /^(.{1,40}?)\s+or\s+(more|greater|above|higher|less|fewer|below|lower)$/i;

/**
 * Reads the set that the words name; undefined for other words. `readValue` reads the numbers in them, or gives
 * undefined.
 */
export function readSetWords(source: string, readValue: (text: string) => Node | undefined): Node | undefined {
  return readNamedSet(source, readValue) ?? readBound(source, readValue);
}

function readNamedSet(source: string, readValue: (text: string) => Node | undefined): Node | undefined {
  const match = source.length > 150 ? undefined : SET.exec(source);
  if (!match || /^(?:numbers?|values?)$/i.test(source)) return undefined;
  const [, sign, kind, exception] = match;
  const isSimple = !/\b(?:all|any|every|real|reals|set)\b/i.test(source) && sign === undefined && kind === undefined;
  const isOneNumber = !/\b(?:all|any|every|set|reals|[a-z]+s)\b/i.test(source);
  if (isSimple || isOneNumber) return undefined;
  const operator = SIGNS.find(([pattern]) => sign !== undefined && pattern.test(sign))?.[1];
  const set: Node = operator ? signedSet(nameOf(kind), operator) : { kind: "namedSet", name: nameOf(kind) };
  if (exception === undefined) return set;
  const removed = readValue(exception);
  if (!removed) return undefined;
  const items = removed.kind === "list" ? removed.items : [removed];
  return { kind: "setOperation", name: "difference", sets: [set, { kind: "set", items }] };
}

/** Returns the numbers of a set on one side of zero: `\mathbb{R}^+`. */
export function signedSet(name: SetName, operator: RelationOperator): Node {
  const condition = relation(operator, number(0));
  if (name === "reals") return builder(condition);
  const element: Node = { kind: "relation", operators: ["in"], operands: [symbol("x"), { kind: "namedSet", name }] };
  return { kind: "builder", element, condition };
}

function nameOf(kind: string | undefined): SetName {
  if (kind === undefined) return "reals";
  if (/^(?:natural|whole)/i.test(kind)) return "naturals";
  if (/^rational/i.test(kind)) return "rationals";
  return /^complex/i.test(kind) ? "complexes" : "integers";
}

/** Reads `at least 5`, `5 or more`: the set of numbers with this bound, whatever they are called. */
function readBound(source: string, readValue: (text: string) => Node | undefined): Node | undefined {
  const bound = source.slice(0, 150).replace(NUMBERS, "");
  const before = BOUND.exec(bound);
  const after = before ? undefined : BOUND_AFTER.exec(bound);
  const words = (before?.[1] ?? after?.[2])?.toLowerCase();
  if (words === undefined) return undefined;
  const value = readValue((before?.[2] ?? after?.[1]) as string);
  if (!value || value.kind === "list" || value.kind === "relation") return undefined;
  return builder(relation(operatorOf(words, after !== undefined && after !== null), value));
}

function operatorOf(words: string, isInclusive: boolean): RelationOperator {
  const isLower = /least|no less|not less|^(?:more|greater|larger|bigger|above|higher)/.test(words);
  return `${isLower ? ">" : "<"}${isInclusive || /least|most|no |not |equal/.test(words) ? "=" : ""}` as RelationOperator;
}

function relation(operator: RelationOperator, value: Node): Node {
  return { kind: "relation", operators: [operator], operands: [symbol("x"), value] };
}

function builder(condition: Node): Node {
  return { kind: "builder", element: symbol("x"), condition };
}
