/** The comparison of two readings: which rules apply to which shapes. */
import { looksLikeRegion } from "../region/compile.ts";
import { show } from "../tree/show.ts";
import type { ListNode, Node, RelationNode, TupleNode } from "../tree/node.ts";
import { isName } from "../tree/name.ts";
import { children, some } from "../tree/walk.ts";
import { different, equivalent, type Outcome } from "../verdict.ts";
import { assignedValue, componentwise, hasRelation, isVariable, shortened, withoutCurveName } from "./assignment.ts";
import { compareAsSets, compareInOrder, compareTuples } from "./collection.ts";
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

export function compareNodes(c: Context, goldNode: Node, answerNode: Node): Outcome {
  c.work.spend(8);
  const [goldForm, answerForm] = withSameParameter(...unified(goldNode, answerNode));
  const [goldPart, answerPart] = [goldForm, answerForm].map((form) => componentwise(prepared(form))) as [Node, Node];
  const [gold, answer] = [asSolutions(goldPart, answerPart), asSolutions(answerPart, goldPart)];
  const [goldKey, answerKey] = [show(gold), show(answer)];
  c.work.spend((goldKey.length + answerKey.length) >> 2);
  if (goldKey === answerKey) return equivalent("identical", "the same expression");
  if (gold.kind === "text" || answer.kind === "text") return compareWithText(c, gold, answer);
  if (isPiecewise(gold) && isPiecewise(answer)) return compareAsSets(c, children(gold), children(answer));
  if (
    c.options.allow_set_relation_comp === false &&
    !hasRelation(gold) &&
    looksLikeRegion(gold) &&
    looksLikeRegion(answer) &&
    hasRelation(answer)
  ) {
    return different("relation", "an inequality where the reference is a set");
  }
  if (hasRelation(gold) || hasRelation(answer)) return compareWithRelation(c, gold, answer);
  return compareValues(c, gold, answer);
}

/** Conditions and approximations resolved: what the statement says. */
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

/** `k \in \mathbb{Z}` beside an expression in k. */
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

/** `\mathbb{R} - \{1\}`: a minus sign between sets. */
function setDifference(first: Node, second: Node): Node | undefined {
  const isSet = (node: Node | undefined): boolean =>
    node?.kind === "set" || node?.kind === "namedSet" || node?.kind === "setOperation";
  if (!isSet(first) || second.kind !== "multiply" || second.factors.length !== 2 || !isSet(second.factors[1]))
    return undefined;
  return { kind: "setOperation", name: "difference", sets: [first, second.factors[1] as Node] };
}

/** Values with the conditions under which they hold. */
function isPiecewise(node: Node): boolean {
  return node.kind === "call" && node.name === "cases";
}

/** Words that name a set. */
function asSet(words: string): Node | undefined {
  if (words === "all reals") return { kind: "namedSet", name: "reals" };
  return words === "none" ? { kind: "namedSet", name: "empty" } : undefined;
}

function compareWithText(c: Context, gold: Node, answer: Node): Outcome {
  const a = wordsOf(gold);
  const b = wordsOf(answer);
  if (a !== undefined && b !== undefined) return compareTexts(a, b);
  const unwrapped = (node: Node): Node | undefined => (node.kind === "relation" ? assignedValue(c, node) : undefined);
  const left = unwrapped(gold);
  const right = unwrapped(answer);
  if (left || right) return c.compare(left ?? gold, right ?? answer);
  if (gold.kind === "set" && gold.items.length === 1) return c.compare(gold.items[0] as Node, answer);
  if (answer.kind === "set" && answer.items.length === 1) return c.compare(gold, answer.items[0] as Node);
  return different("text", "words on one side and mathematics on the other");
}

function compareWithRelation(c: Context, gold: Node, answer: Node): Outcome {
  const bothRelate = hasRelation(gold) && hasRelation(answer);
  if (bothRelate && gold.kind === "relation" && answer.kind === "relation")
    return comparePairOfRelations(c, gold, answer);
  if (bothRelate && (looksLikeRegion(gold) || looksLikeRegion(answer))) {
    const outcome = compareRegions(c, gold, answer);
    if (outcome) return outcome;
  }
  if (bothRelate && gold.kind === "list" && answer.kind === "list") {
    const outcome = compareAsSets(c, named(gold).items, named(answer).items);
    if (outcome.verdict === "equivalent" || (!hasBareItem(gold) && !hasBareItem(answer))) return outcome;
  }
  if (looksLikeRegion(gold) || looksLikeRegion(answer)) {
    const outcome = compareRegions(c, gold, answer);
    if (outcome) return outcome;
  }
  const left = valueOf(c, gold, answer);
  const right = valueOf(c, answer, gold);
  if (left === undefined || right === undefined)
    return different("relation", "a statement on one side and a value on the other");
  if (show(left) === show(gold) && show(right) === show(answer)) return compareValues(c, gold, answer);
  return c.compare(left, right);
}

function comparePairOfRelations(c: Context, gold: RelationNode, answer: RelationNode): Outcome {
  const outcome = compareRelations(c, shortened(c, gold), shortened(c, answer));
  if (outcome.verdict === "equivalent") return outcome;
  if (looksLikeRegion(gold) || looksLikeRegion(answer)) return compareRegions(c, gold, answer) ?? outcome;
  const [left, right] = [gold, answer].map((node) =>
    isName(node.operands[0] as Node) ? assignedValue(c, node) : undefined,
  );
  const sameName = left && right && show(gold.operands[0] as Node) === show(answer.operands[0] as Node);
  return sameName ? c.compare(left, right) : outcome;
}

/** A first item `x = 1` gives its name to the bare values that follow. */
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

/** The value that a statement assigns, for comparison with a bare value; undefined when it assigns none. */
function valueOf(c: Context, node: Node, other: Node): Node | undefined {
  if (node.kind === "relation") return assignedValue(c, node);
  if (node.kind !== "list" || !hasRelation(node)) return node;
  const values: Node[] = [];
  const names = new Map<string, Node>();
  // Words have no order of their own; letters have.
  const areWords = node.items.every((item) => item.kind === "relation" && item.operands[0]?.kind === "text");
  for (const item of node.items) {
    // One of several solutions in several unknowns.
    const value =
      item.kind === "relation" ? assignedValue(c, item) : item.kind === "list" ? valueOf(c, item, ANY_POINT) : item;
    if (value === undefined) return undefined;
    values.push(value);
    if (item.kind === "relation") names.set(show(item.operands[0] as Node), value);
  }
  // Several names: the values in the order of the names, as a point is written.
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

function compareValues(c: Context, gold: Node, answer: Node): Outcome {
  if (hasPlusMinus(gold) || hasPlusMinus(answer)) {
    const left = itemsOf(gold);
    const right = itemsOf(answer);
    if (left && right) return compareAsSets(c, left, right);
  }
  const family = compareProgressions(c, gold, answer);
  if (family) return family;
  if (gold.kind === "quantity" || answer.kind === "quantity") return compareQuantities(c, gold, answer);
  if (hasMatrix(gold) || hasMatrix(answer)) return compareWithMatrix(c, gold, answer);
  if (gold.kind === "tuple" && answer.kind === "tuple") return compareTuples(c, gold, answer);
  if (looksLikeRegion(gold) || looksLikeRegion(answer)) {
    const outcome = compareRegions(c, gold, answer);
    if (outcome) return outcome;
    if (gold.kind === "setOperation" && answer.kind === "setOperation" && gold.name === answer.name) {
      return gold.name === "difference"
        ? compareInOrder(c, gold.sets, answer.sets, "sets")
        : compareAsSets(c, gold.sets, answer.sets);
    }
  }
  if (gold.kind === "ratio" || answer.kind === "ratio") {
    if (gold.kind === "ratio" && answer.kind === "ratio" && gold.parts.length !== 2)
      return compareRatios(c, gold.parts, answer.parts);
  }
  if (c.options.strict === false && isTupleWithSet(gold, answer))
    return compareAsSets(c, children(gold), children(answer));
  const ordered = orderedPair(gold, answer);
  if (ordered) return compareInOrder(c, ordered[0], ordered[1], "components");
  const isCollection = (node: Node): boolean => node.kind === "list" || node.kind === "set";
  if (isCollection(gold) || isCollection(answer)) {
    const left = itemsOf(gold);
    const right = itemsOf(answer);
    if (left && right) return compareAsSets(c, left, right);
    return different("structure", `a ${answer.kind} where the reference is a ${gold.kind}`);
  }
  if (gold.kind === "tuple" || answer.kind === "tuple")
    return different("structure", `a ${answer.kind} where the reference is a ${gold.kind}`);
  return compareAntiderivatives(c, gold, answer) ?? compareScalars(c, gold, answer);
}

function isTupleWithSet(a: Node, b: Node): boolean {
  return (a.kind === "tuple" && b.kind === "set") || (a.kind === "set" && b.kind === "tuple");
}

/** The items of a tuple and a bare list, which are compared in order. */
function orderedPair(gold: Node, answer: Node): readonly [readonly Node[], readonly Node[]] | undefined {
  const isOrdered = (tuple: Node, other: Node): boolean =>
    tuple.kind === "tuple" &&
    tuple.open === "round" &&
    tuple.close === "round" &&
    other.kind === "list" &&
    (!other.items.some((item) => item.kind === "tuple") || tuple.items.every((item) => item.kind === "tuple"));
  if (isOrdered(gold, answer) || isOrdered(answer, gold))
    return [(gold as TupleNode).items, (answer as TupleNode).items];
  return undefined;
}

/** The items of a collection, with both values of every ±; a single value is a collection of one. */
function itemsOf(node: Node): readonly Node[] | undefined {
  if (node.kind === "list" || node.kind === "set")
    return node.items.flatMap((item) => (hasPlusMinus(item) ? bothSigns(item) : [item]));
  if (node.kind === "namedSet" && node.name === "empty") return [];
  if (node.kind === "tuple" && node.items.length !== 2 && hasPlusMinus(node)) return bothSigns(node);
  if (node.kind === "tuple" || node.kind === "setOperation" || node.kind === "builder" || node.kind === "namedSet")
    return hasPlusMinus(node) ? bothSigns(node) : undefined;
  return hasPlusMinus(node) ? bothSigns(node) : [node];
}

function compareWithMatrix(c: Context, gold: Node, answer: Node): Outcome {
  const left = asMatrix(gold);
  const right = asMatrix(answer);
  if (left && right) return compareMatrices(c, left, right);
  const single = left ?? right;
  const other = left ? answer : gold;
  if (single && (other.kind === "tuple" || other.kind === "list")) {
    const items = vectorItems(single);
    if (items)
      return left
        ? compareInOrder(c, items, other.items, "components")
        : compareInOrder(c, other.items, items, "components");
  }
  if (gold.kind === "list" && answer.kind === "list") return compareAsSets(c, gold.items, answer.items);
  return single && !hasMatrix(other)
    ? different("structure", "a matrix on one side only")
    : compareScalars(c, gold, answer);
}

function compareRatios(c: Context, gold: readonly Node[], answer: readonly Node[]): Outcome {
  if (gold.length !== answer.length) return different("structure", "ratios of different length");
  const [g] = gold as [Node];
  const [a] = answer as [Node];
  const scaled = (node: Node, by: Node): Node => ({ kind: "multiply", factors: [node, by] });
  return compareInOrder(
    c,
    gold.map((part) => scaled(part, a)),
    answer.map((part) => scaled(part, g)),
    "parts",
  );
}
