/** The comparison of two readings: which rules apply to which shapes. */
import { looksLikeRegion } from "../region/compile.ts";
import { show } from "../tree/show.ts";
import type { ListNode, Node, RelationNode, TupleNode } from "../tree/node.ts";
import { isName } from "../tree/name.ts";
import { children, some, variables } from "../tree/walk.ts";
import { different, equivalent, type Outcome } from "../verdict.ts";
import { assignedValue, componentwise, hasRelation, isVariable, shortened, withoutCurveName } from "./assignment.ts";
import { compareAsLists, compareAsSets, compareInOrder, compareTuples } from "./collection.ts";
import { withArgumentsOf } from "./bound.ts";
import { conditionOf, hasAlternative } from "./condition.ts";
import type { Context } from "./context.ts";
import { asMatrix, compareMatrices, hasMatrix, vectorItems } from "./matrix.ts";
import { withoutEllipsis } from "./ellipsis.ts";
import { wholeNumbersBetween } from "./integers.ts";
import { unified } from "./notation.ts";
import { compareProgressions, withSameParameter } from "./parameter.ts";
import { bothSigns, hasPlusMinus } from "../tree/plusminus.ts";
import { compareAntiderivatives } from "./integration.ts";
import { compareQuantities } from "./quantity.ts";
import { compareRegions } from "./region.ts";
import { compareRelations } from "./relation.ts";
import { compareScalars } from "./scalar.ts";
import { asSolutions } from "./solutions.ts";
import { compareTexts, normaliseText, wordsOf } from "./text.ts";

export function compareNodes(c: Context, expectedNode: Node, answerNode: Node): Outcome {
  c.work.spend(8);
  const condition = conditionOf(answerNode);
  if (condition !== "" && !hasSameCondition(condition, expectedNode))
    return different("structure", "a condition that the reference does not have");
  if (condition === "" && hasAlternative(expectedNode) && !some(answerNode, isPiecewise))
    return different("structure", "only one of the values of the reference");
  const [expectedForm, answerForm] = withSameParameter(...unified(expectedNode, answerNode));
  const [reference, given] = [expectedForm, answerForm].map((form) => componentwise(prepared(form))) as [Node, Node];
  const answerPart = withArgumentsOf(reference, given);
  const expectedPart = answerPart === given ? withArgumentsOf(given, reference) : reference;
  const [expected, answer] = [asSolutions(expectedPart, answerPart), asSolutions(answerPart, expectedPart)];
  const [expectedKey, answerKey] = [show(expected), show(answer)];
  c.work.spend((expectedKey.length + answerKey.length) >> 2);
  if (expectedKey === answerKey) return equivalent("identical", "the same expression");
  if (expected.kind === "text" || answer.kind === "text") return compareWithText(c, expected, answer);
  if (isPiecewise(expected) && isPiecewise(answer)) return compareAsSets(c, children(expected), children(answer));
  if (
    c.options.allow_set_relation_comp === false &&
    !hasRelation(expected) &&
    looksLikeRegion(expected) &&
    looksLikeRegion(answer) &&
    hasRelation(answer)
  ) {
    return different("relation", "an inequality where the reference is a set");
  }
  if (hasRelation(expected) || hasRelation(answer)) return compareWithRelation(c, expected, answer);
  return compareValues(c, expected, answer);
}

/** Whether the reference has the condition of the answer, in words or as a case distinction. */
function hasSameCondition(condition: string, expected: Node): boolean {
  const own = conditionOf(expected);
  return own === condition || (own === "" && some(expected, isPiecewise));
}

/** Resolves the conditions and approximations of a statement. */
function prepared(node: Node): Node {
  if (node.kind === "text") return asSet(normaliseText(node.value)) ?? node;
  const removed =
    node.kind === "add" && node.terms.length === 2
      ? setDifference(node.terms[0] as Node, node.terms[1] as Node)
      : undefined;
  if (removed) return removed;
  if (node.kind === "multiply" && node.factors.length === 2) {
    // `A(1, 2)`: a named point.
    const [name, point] = node.factors as [Node, Node];
    if (name.kind === "symbol" && /^[A-Z]/.test(name.name) && point.kind === "tuple") return prepared(point);
  }
  if (node.kind === "call" && node.name === "where") return prepared(node.args[0] as Node);
  if (node.kind === "relation") return withoutCurveName(node);
  if (node.kind === "list") {
    const conditions = node.items.filter(
      (item) =>
        isMembership(item) &&
        node.items.some((other) => other !== item && !isMembership(other) && mentions(other, item)),
    );
    const kept = node.items.filter((item) => !conditions.includes(item));
    const counted =
      kept.length === 1 && conditions.length === 1
        ? wholeNumbersBetween(kept[0] as Node, conditions[0] as Node)
        : undefined;
    if (counted) return counted;
    if (kept.length === 1 && kept.length < node.items.length) return prepared(kept[0] as Node);
    return { ...node, items: withoutEllipsis(kept) };
  }
  if (node.kind === "set") return { ...node, items: withoutEllipsis(node.items) };
  return node;
}

/** Returns true for `k \in \mathbb{Z}` with an expression in k. */
function isMembership(node: Node): boolean {
  return (
    node.kind === "relation" &&
    node.operators[0] === "in" &&
    node.operands[1]?.kind === "namedSet" &&
    node.operands[1].name !== "reals"
  );
}

function mentions(node: Node, membership: Node): boolean {
  const name = membership.kind === "relation" ? membership.operands[0] : undefined;
  return name !== undefined && some(node, (part) => part.kind === name.kind && show(part) === show(name));
}

/** Reads `\mathbb{R} - \{1\}`: a minus sign between sets. */
function setDifference(first: Node, second: Node): Node | undefined {
  const isSet = (node: Node | undefined): boolean =>
    node?.kind === "set" || node?.kind === "namedSet" || node?.kind === "setOperation";
  if (!isSet(first) || second.kind !== "multiply" || second.factors.length !== 2 || !isSet(second.factors[1]))
    return undefined;
  return { kind: "setOperation", name: "difference", sets: [first, second.factors[1] as Node] };
}

/** Whether a node lists values with conditions. */
function isPiecewise(node: Node): boolean {
  return node.kind === "call" && node.name === "cases";
}

/** Reads words that name a set. */
function asSet(words: string): Node | undefined {
  if (words === "all reals") return { kind: "namedSet", name: "reals" };
  return words === "none" ? { kind: "namedSet", name: "empty" } : undefined;
}

function compareWithText(c: Context, expected: Node, answer: Node): Outcome {
  const a = wordsOf(expected);
  const b = wordsOf(answer);
  if (a !== undefined && b !== undefined) return compareTexts(a, b);
  const unwrapped = (node: Node): Node | undefined => (node.kind === "relation" ? assignedValue(c, node) : undefined);
  const left = unwrapped(expected);
  const right = unwrapped(answer);
  if (left || right) return c.compare(left ?? expected, right ?? answer);
  if (expected.kind === "set" && expected.items.length === 1) return c.compare(expected.items[0] as Node, answer);
  if (answer.kind === "set" && answer.items.length === 1) return c.compare(expected, answer.items[0] as Node);
  return different("text", "words on one side and mathematics on the other");
}

function compareWithRelation(c: Context, expected: Node, answer: Node): Outcome {
  const bothRelate = hasRelation(expected) && hasRelation(answer);
  if (bothRelate && expected.kind === "relation" && answer.kind === "relation")
    return comparePairOfRelations(c, expected, answer);
  if (bothRelate && (looksLikeRegion(expected) || looksLikeRegion(answer))) {
    const outcome = compareRegions(c, expected, answer);
    if (outcome) return outcome;
  }
  if (bothRelate && expected.kind === "list" && answer.kind === "list") {
    const outcome = compareAsSets(c, named(expected).items, named(answer).items);
    if (outcome.verdict === "equivalent" || (!hasBareItem(expected) && !hasBareItem(answer))) return outcome;
  }
  if (looksLikeRegion(expected) || looksLikeRegion(answer)) {
    const outcome = compareRegions(c, expected, answer);
    if (outcome) return outcome;
  }
  const left = valueOf(c, expected, answer);
  const right = valueOf(c, answer, expected);
  if (left === undefined || right === undefined)
    return different("relation", "a statement on one side and a value on the other");
  if (show(left) === show(expected) && show(right) === show(answer)) return compareValues(c, expected, answer);
  return c.compare(left, right);
}

function comparePairOfRelations(c: Context, expected: RelationNode, answer: RelationNode): Outcome {
  // `a = b = c` states more than `a = c`.
  const [wanted, given] = [expected, answer].map(({ operands }) => operands.filter(({ kind }) => kind === "symbol"));
  if (expected.operators.join("") === "==" && (given as Node[]).length < (wanted as Node[]).length)
    return different("structure", "a name of the reference is missing");
  const outcome = compareRelations(c, shortened(c, expected), shortened(c, answer));
  if (outcome.verdict === "equivalent") return outcome;
  if (looksLikeRegion(expected) || looksLikeRegion(answer)) return compareRegions(c, expected, answer) ?? outcome;
  const [left, right] = [expected, answer].map((node) =>
    isName(node.operands[0] as Node) ? assignedValue(c, node) : undefined,
  );
  const sameName = left && right && show(expected.operands[0] as Node) === show(answer.operands[0] as Node);
  return sameName ? c.compare(left, right) : outcome;
}

/** Gives the name of a first item such as `x = 1` to the values without names that follow. */
function named(list: ListNode): ListNode {
  const [first] = list.items;
  if (
    first?.kind !== "relation" ||
    !hasBareItem(list) ||
    first.operators[0] !== "=" ||
    !isVariable(first.operands[0] as Node)
  )
    return list;
  const name = first.operands[0] as Node;
  return {
    ...list,
    items: list.items.map((item) =>
      item.kind === "relation" ? item : { kind: "relation", operators: ["="], operands: [name, item] },
    ),
  };
}

function hasBareItem(node: Node): boolean {
  return node.kind === "list" && node.items.some((item) => item.kind !== "relation");
}

/** Returns the value that a statement assigns, for comparison with a bare value; undefined when it assigns none. */
function valueOf(c: Context, node: Node, other: Node): Node | undefined {
  if (node.kind === "relation") return assignedValue(c, node);
  if (node.kind !== "list" || !hasRelation(node)) return node;
  const values: Node[] = [];
  const names = new Map<string, Node>();
  // Names that are words have no order; letters have one.
  const areWords = node.items.every((item) => item.kind === "relation" && item.operands[0]?.kind === "text");
  for (const item of node.items) {
    // A list item is one of several solutions in several unknowns.
    const value =
      item.kind === "relation" ? assignedValue(c, item) : item.kind === "list" ? valueOf(c, item, ANY_POINT) : item;
    if (value === undefined) return undefined;
    values.push(value);
    if (item.kind === "relation") names.set(show(item.operands[0] as Node), value);
  }
  // With several names, compare the values in the order of the names, as in a point.
  const letters = new Set([...names.keys()].map((name) => name.replace(/_\w+/g, "")));
  const areRoots = letters.size === 1 && other.kind !== "tuple";
  if (
    !areRoots &&
    names.size === node.items.length &&
    names.size > 1 &&
    (other.kind === "tuple" || other.kind === "list")
  ) {
    const sorted = [...names].sort(([a], [b]) => (areWords ? 0 : a < b ? -1 : 1)).map(([, value]) => value);
    return { kind: "tuple", items: sorted, open: "round", close: "round" };
  }
  // Values of one variable have no order.
  return names.size > 0 || node.items.some((item) => item.kind === "list")
    ? { kind: "set", items: values }
    : { ...node, items: values };
}

/** Counterpart of a solution in a comparison: a point, whose components have an order. */
const ANY_POINT: Node = { kind: "tuple", items: [], open: "round", close: "round" };

function compareValues(c: Context, expected: Node, answer: Node): Outcome {
  if (hasPlusMinus(expected) || hasPlusMinus(answer)) {
    const left = itemsOf(expected);
    const right = itemsOf(answer);
    if (left && right) return compareAsSets(c, left, right);
  }
  if ([expected, answer].some(isPiecewise) && [expected, answer].some((side) => variables(side).size === 0))
    return different("structure", "a case distinction on one side and one value on the other");
  const family = compareProgressions(c, expected, answer);
  if (family) return family;
  if (expected.kind === "quantity" || answer.kind === "quantity") return compareQuantities(c, expected, answer);
  if (hasMatrix(expected) || hasMatrix(answer)) return compareWithMatrix(c, expected, answer);
  if (expected.kind === "tuple" && answer.kind === "tuple") return compareTuples(c, expected, answer);
  if (looksLikeRegion(expected) || looksLikeRegion(answer)) {
    const outcome = compareRegions(c, expected, answer);
    if (outcome) return outcome;
    if (expected.kind === "setOperation" && answer.kind === "setOperation" && expected.name === answer.name) {
      return expected.name === "difference"
        ? compareInOrder(c, expected.sets, answer.sets, "sets")
        : compareAsSets(c, expected.sets, answer.sets);
    }
  }
  if (expected.kind === "ratio" || answer.kind === "ratio") {
    if (expected.kind === "ratio" && answer.kind === "ratio" && expected.parts.length !== 2)
      return compareRatios(c, expected.parts, answer.parts);
  }
  if (c.options.strict === false && isTupleWithSet(expected, answer))
    return compareAsSets(c, children(expected), children(answer));
  const ordered = orderedPair(expected, answer);
  if (ordered) return compareInOrder(c, ordered[0], ordered[1], "components");
  const isCollection = (node: Node): boolean => node.kind === "list" || node.kind === "set";
  if (isCollection(expected) || isCollection(answer)) {
    const left = itemsOf(expected);
    const right = itemsOf(answer);
    const compare = expected.kind === "list" ? compareAsLists : compareAsSets;
    if (left && right) return compare(c, left, right);
    return different("structure", `a ${answer.kind} where the reference is a ${expected.kind}`);
  }
  if (expected.kind === "tuple" || answer.kind === "tuple")
    return different("structure", `a ${answer.kind} where the reference is a ${expected.kind}`);
  return compareAntiderivatives(c, expected, answer) ?? compareScalars(c, expected, answer);
}

function isTupleWithSet(a: Node, b: Node): boolean {
  return (a.kind === "tuple" && b.kind === "set") || (a.kind === "set" && b.kind === "tuple");
}

/** Returns the items of a tuple and a bare list, which are compared in order. */
function orderedPair(expected: Node, answer: Node): readonly [readonly Node[], readonly Node[]] | undefined {
  const isOrdered = (tuple: Node, other: Node): boolean =>
    tuple.kind === "tuple" &&
    tuple.open === "round" &&
    tuple.close === "round" &&
    other.kind === "list" &&
    (!other.items.some((item) => item.kind === "tuple") || tuple.items.every((item) => item.kind === "tuple"));
  if (isOrdered(expected, answer) || isOrdered(answer, expected))
    return [(expected as TupleNode).items, (answer as TupleNode).items];
  return undefined;
}

/** Returns the items of a collection, with both values of every ±; a single value is a collection of one. */
function itemsOf(node: Node): readonly Node[] | undefined {
  if (node.kind === "list" || node.kind === "set")
    return node.items.flatMap((item) => (hasPlusMinus(item) ? bothSigns(item) : [item]));
  if (node.kind === "namedSet" && node.name === "empty") return [];
  if (node.kind === "tuple" && node.items.length !== 2 && hasPlusMinus(node)) return bothSigns(node);
  if (node.kind === "tuple" || node.kind === "setOperation" || node.kind === "builder" || node.kind === "namedSet")
    return hasPlusMinus(node) ? bothSigns(node) : undefined;
  return hasPlusMinus(node) ? bothSigns(node) : [node];
}

function compareWithMatrix(c: Context, expected: Node, answer: Node): Outcome {
  const left = asMatrix(expected);
  const right = asMatrix(answer);
  if (left && right) return compareMatrices(c, left, right);
  const single = left ?? right;
  const other = left ? answer : expected;
  if (single && (other.kind === "tuple" || other.kind === "list")) {
    const items = vectorItems(single);
    if (items)
      return left
        ? compareInOrder(c, items, other.items, "components")
        : compareInOrder(c, other.items, items, "components");
  }
  if (expected.kind === "list" && answer.kind === "list") return compareAsLists(c, expected.items, answer.items);
  return single && !hasMatrix(other)
    ? different("structure", "a matrix on one side only")
    : compareScalars(c, expected, answer);
}

function compareRatios(c: Context, expected: readonly Node[], answer: readonly Node[]): Outcome {
  if (expected.length !== answer.length) return different("structure", "ratios of different length");
  const [g] = expected as [Node];
  const [a] = answer as [Node];
  const scaled = (node: Node, by: Node): Node => ({ kind: "multiply", factors: [node, by] });
  return compareInOrder(
    c,
    expected.map((part) => scaled(part, a)),
    answer.map((part) => scaled(part, g)),
    "parts",
  );
}
