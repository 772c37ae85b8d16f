/** The form of an answer is part of the task: a value that has yet to be computed, or a copy of the question, is no answer. */
import { asQuantity } from "../compare/quantity.ts";
import { approximate } from "../numeric/approximate.ts";
import * as q from "../exact/rational.ts";
import type { Node, QuantityNode } from "../tree/node.ts";
import { anywhere, children, some, variables } from "../tree/walk.ts";
import type { Work } from "../work.ts";
import { type AnswerForm, baseOf, formOf, isInForm, isLooser, type ValueForm } from "./form.ts";
import { computationsOf } from "./question.ts";
import { isUnknown, type Statement, statementOf } from "./statement.ts";
import { isComputation, written } from "./written.ts";

export type FormRequest = {
  readonly expected: Node;
  readonly answer: Node;
  readonly form: Exclude<AnswerForm, "equivalent">;
  readonly question: string | undefined;
  readonly work: Work;
  /** Whether an answer is equivalent to a value. */
  readonly equals: (value: Node, answer: Node) => boolean;
};

/** Returns the reason why an equivalent answer is not computed; undefined if it is in its form. */
export function missingForm({ expected, answer, form, question, work, equals }: FormRequest): string | undefined {
  // Most answers: a whole number is in every form, and no computation.
  const isPlain = answer.kind === "number" && answer.notation === undefined && q.isInteger(answer.value);
  if (isPlain && baseOf(expected) === undefined) return undefined;
  const wanted = statementOf(expected, work);
  const given = statementOf(answer, work);
  const accepted: Node[] = [];
  const isFixed = form !== "auto";
  const isOpen = !isFixed && (wanted.unsolved.length > 0 || isInLetters(expected, wanted.values));
  if (!isOpen) {
    if (form !== "expression" && given.unsolved.length > 0 && !isIdentity(expected, answer))
      return "the relation is not solved for its unknown";
    if (hasLooseValue(answer)) return "values stand beside an inequality";
    const forms: readonly Wanted[] = wanted.values.map((value) => ({ value, form: isFixed ? form : formOf(value) }));
    const units = wanted.values.filter((value) => value.kind === "quantity");
    for (const spelled of given.values) {
      // Letters after a number are a unit where the reference has one of the same dimension.
      const value = units.reduce<Node>(asQuantity, spelled);
      const demanded = demandOn(value, forms, work);
      const rounded = given.roundings.get(spelled);
      const isRounded = rounded !== undefined && wanted.values.some((other) => equals(other, rounded));
      if (isInForm(demanded.form, value, demanded.value)) accepted.push(spelled);
      else if (isRounded && isInForm(demanded.form, rounded, demanded.value)) accepted.push(rounded);
      else return `operations are left to do: ${NAMES[demanded.form]} is asked for`;
    }
  }
  if ((given.values.some(isUndone) && !isUndone(expected)) || (isCut(answer) && !isCut(expected)))
    return "an operation is left to do";
  const name = solvedFor(expected);
  // "Solve V = ... for h" asks for h alone; `a = 2b` otherwise states the same as `b = a/2`.
  const [, asked] = /\bfor\s+[$\\(]*([a-zA-Z]\w*)/.exec(question ?? "") ?? [];
  if (name !== undefined && name === asked && answer.kind === "relation" && solvedFor(answer) !== name)
    return `the relation is not solved for ${name}`;
  const stated = isOpen ? given : { ...given, values: accepted };
  return question !== undefined && isCopied(partsOf(expected, wanted), partsOf(answer, stated), question)
    ? "the answer is a part of the question that has yet to be computed"
    : undefined;
}

/** Returns h for `h = \frac{3V}{\pi r^2}`, on either side. An equation in x, y or z may be a curve, which has no name on a side of its own. */
function solvedFor(node: Node): string | undefined {
  if (node.kind !== "relation" || node.operators.join() !== "=") return undefined;
  const [left, right] = node.operands as [Node, Node];
  for (const [side, other] of [
    [left, right],
    [right, left],
  ] as const)
    if (
      side.kind === "symbol" &&
      !/^[xyz]/.test(side.name) &&
      other.kind !== "symbol" &&
      variables(other).size > 0 &&
      !variables(other).has(side.name)
    )
      return side.name;
  return undefined;
}

/** Whether a derivative, an integral, a sum, a limit, a determinant, or a product of matrices is still to be computed. */
const isUndone = anywhere(
  (part) =>
    (part.kind === "call" && /^(?:derivative.*|i*o?int_.*|sum|prod|lim|det)(?:\(\))?$/.test(part.name)) ||
    (part.kind === "multiply" && part.factors.filter(({ kind }) => kind === "matrix").length > 1),
);

/** Whether an intersection or a difference of sets that are known is still to be found; one without some points is a way to write it. */
const isCut = anywhere(
  (part) =>
    part.kind === "setOperation" &&
    part.name !== "union" &&
    !(part.name === "difference" && part.sets.at(-1)?.kind === "set") &&
    part.sets.every(({ kind }) => kind !== "namedSet" && kind !== "symbol"),
);

/** Returns true for `\sin^2 x + \cos^2 x = 1` beside a value: a chain without an unknown is equal to a value for all values of its letters. */
function isIdentity(expected: Node, answer: Node): boolean {
  return (
    answer.kind === "relation" &&
    !answer.operands.some(isUnknown) &&
    expected.kind !== "relation" &&
    !isCollection(expected)
  );
}

/** Whether the reference is an expression in letters, or relates several of them, as the equation of a line does. */
function isInLetters(expected: Node, values: readonly Node[]): boolean {
  if (values.some((value) => variables(value).size > 0)) return true;
  return some(expected, (part) => part.kind === "relation" && part.operands.some(isMixture));
}

/** Returns true for `x + y`, and false for a name of several letters such as `|AB|` or `P(A)`. */
const isMixture = (side: Node): boolean =>
  (side.kind === "add" || side.kind === "multiply") && variables(side).size > 1;

const isCollection = (node: Node): boolean =>
  /^(?:list|set|tuple|builder|setOperation|namedSet|matrix)$/.test(node.kind);

/** Returns true for `x > -6 or 17`, whose 17 is a guess: the inequality holds for it anyway. */
function hasLooseValue(answer: Node): boolean {
  if (answer.kind !== "list") return false;
  const isBound = (item: Node): boolean => item.kind === "relation" && item.operators.some((name) => /[<>]/.test(name));
  return answer.items.some(isBound) && answer.items.some((item) => item.kind === "number" || item.kind === "percent");
}

const NAMES: Readonly<Record<ValueForm, string>> = {
  integer: "a whole number",
  rational: "a decimal or a fraction",
  surd: "a sum of roots and constants",
  expression: "an expression",
};

type Wanted = { readonly value: Node; readonly form: ValueForm };

/** Returns the form of the value of the reference that a value of the answer stands for. */
function demandOn(value: Node, wanted: readonly Wanted[], work: Work): Wanted {
  const [first = { value, form: "expression" as const }] = wanted;
  const loosest = wanted.reduce((a, b) => (isLooser(b.form, a.form) ? b : a), first);
  const isUniform = wanted.every(({ form }) => form === loosest.form);
  const found = isUniform ? loosest : (equalTo(value, wanted, work) ?? loosest);
  return inItsUnit(value, found, wanted);
}

/** Returns the value of the reference with the same number. */
function equalTo(value: Node, wanted: readonly Wanted[], work: Work): Wanted | undefined {
  const number = valueOf(value, work);
  return (
    number &&
    wanted.find((other) => {
      const expected = valueOf(other.value, work);
      return expected !== undefined && isClose(number, expected);
    })
  );
}

function valueOf(node: Node, work: Work): q.Rational | undefined {
  const bare = node.kind === "quantity" ? node.value : node;
  return variables(bare).size > 0 ? undefined : approximate(bare, work);
}

const CLOSE = q.rational(1, 10n ** 30n);

function isClose(a: q.Rational, b: q.Rational): boolean {
  const distance = q.absolute(q.subtract(a, b));
  return q.compare(distance, q.multiply(CLOSE, q.add(q.ONE, q.absolute(b)))) <= 0;
}

/** A value in another unit may be a fraction where the reference is a whole number, and a multiple of pi where it is an angle. */
function inItsUnit(value: Node, found: Wanted, wanted: readonly Wanted[]): Wanted {
  if (!isLooser("surd", found.form)) return found;
  const units = wanted.flatMap(({ value: node }) => (node.kind === "quantity" ? [node] : []));
  if (units.length === 0) return found;
  if (value.kind !== "quantity") {
    const isInRadians = units.some(({ unit }) => unit.hasPi) && some(value, (part) => part.kind === "constant");
    return isInRadians ? { ...found, form: "surd" } : found;
  }
  if (units.some((unit) => isSameUnit(unit, value))) return found;
  const isAngle = value.unit.hasPi || units.some(({ unit }) => unit.hasPi);
  return { ...found, form: isAngle ? "surd" : "rational" };
}

const isSameUnit = (a: QuantityNode, b: QuantityNode): boolean =>
  a.unit.dimension === b.unit.dimension && q.equals(a.unit.factor, b.unit.factor);

/** Whether one of the parts of the answer stands in the question as a computation, or in another unit or base, and is no part of the reference. */
function isCopied(expected: readonly Node[], answer: readonly Node[], question: string): boolean {
  const [base] = expected.map(baseOf).filter((found) => found !== undefined);
  const isInOtherBase = (part: Node): boolean =>
    part.kind === "number" &&
    baseOf(part) !== base &&
    new RegExp(String.raw`(?<![\d.])${q.toText(part.value)}(?![\d.]*\d)`).test(question);
  if (base !== undefined && answer.some(isInOtherBase)) return true;
  const units = expected.filter((part) => part.kind === "quantity");
  const isInRadians = units.length === 0 && expected.some((part) => some(part, (inner) => inner.kind === "constant"));
  const isConverted = (part: Node): boolean =>
    part.kind === "quantity" &&
    (units.length > 0 ? !units.some((unit) => isSameUnit(unit, part)) : isInRadians && part.unit.hasPi);
  const parts = answer.flatMap(withInner).filter((part) => isComputation(part) || isConverted(part));
  if (parts.length === 0) return false;
  const own = new Set(expected.flatMap(withInner).map(written));
  const foreign = parts.map(written).filter((spelling) => !own.has(spelling));
  if (foreign.length === 0) return false;
  const copied = computationsOf(question);
  return foreign.some((spelling) => copied.has(spelling));
}

/** Returns a part, and the value before its unit or percent sign. */
const withInner = (part: Node): readonly Node[] =>
  part.kind === "quantity" || part.kind === "percent" ? [part, part.value] : [part];

/** Returns a statement, the items of its collections, and the values and relations in them. */
function partsOf(node: Node, { values, unsolved }: Statement): readonly Node[] {
  const items = node.kind === "list" || node.kind === "set" || node.kind === "tuple" ? children(node) : [];
  const conditions = node.kind === "builder" ? [node.condition] : [];
  return [node, ...items, ...conditions, ...values, ...unsolved];
}
