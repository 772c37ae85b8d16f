/** Forms of values: how far an answer has to be computed. */
import { isInteger } from "../exact/rational.ts";
import type { Node, NumberNode } from "../tree/node.ts";
import { anywhere, children, factorsOf, infinitySign, some } from "../tree/walk.ts";

/**
 * Forms from the strictest to the loosest; each contains those before it. `integer`: digits with sign, grouping, a fraction of zeros, percent, a unit, or
 * normalised scientific notation. `rational`: also other decimals, one fraction line between whole numbers, a mixed number, a ratio. `surd`: also sums of
 * products of numerals, roots and constants. `expression`: anything.
 */
export const VALUE_FORMS = ["integer", "rational", "surd", "expression"] as const;
export type ValueForm = (typeof VALUE_FORMS)[number];

/** `auto` derives the form of each value from the reference; `equivalent` accepts every equivalent answer. */
export const ANSWER_FORMS = ["auto", "equivalent", ...VALUE_FORMS] as const;
export type AnswerForm = (typeof ANSWER_FORMS)[number];

export const isAnswerForm = (value: unknown): value is AnswerForm => ANSWER_FORMS.some((form) => form === value);

export const isLooser = (a: ValueForm, b: ValueForm): boolean => VALUE_FORMS.indexOf(a) > VALUE_FORMS.indexOf(b);

/** Returns the form of a value of the reference: the strictest that holds it as it is written. */
export function formOf(value: Node): ValueForm {
  if (value.kind === "percent") return isLooser(formOf(value.value), "rational") ? "expression" : "rational";
  if (value.kind === "quantity") return formOf(value.value);
  if (value.kind === "number" && isInteger(value.value) && value.notation === undefined)
    return value.decimals === undefined ? "integer" : "rational";
  if (isInForm("rational", value, value)) return "rational";
  const isIrrational = some(value, (part) => isRoot(part) || isConstant(part));
  return isIrrational && isInForm("surd", value, value) ? "surd" : "expression";
}

/** Whether a value is written in a form. `expected` is the reference, whose nested roots and base an answer may have too. */
export function isInForm(form: ValueForm, value: Node, expected: Node): boolean {
  if (form === "expression") return true;
  if (infinitySign(value) !== 0) return true;
  if (value.kind === "quantity" || value.kind === "percent") return isInForm(form, value.value, expected);
  const bare = withoutSign(withoutUnit(value));
  if (isIntegerLiteral(bare, expected) || isScientific(bare, form)) return true;
  if (form === "integer") return false;
  if (isRationalLiteral(bare) || isRatio(bare, form, expected)) return true;
  return form === "surd" && isSurd(bare, hasNestedRoot(expected));
}

/** Returns the product of the numbers in `2\pi` radians, where the unit follows the last factor. */
function withoutUnit(value: Node): Node {
  if (value.kind !== "multiply") return value;
  const last = value.factors.at(-1);
  return last?.kind === "quantity" ? { ...value, factors: [...value.factors.slice(0, -1), last.value] } : value;
}

/** Removes the factor -1 of a negated value. */
function withoutSign(value: Node): Node {
  if (value.kind !== "multiply" || value.factors.length !== 2) return value;
  const [sign, rest] = value.factors as [Node, Node];
  return sign.kind === "number" && sign.notation === undefined && sign.value.n === -1n && sign.value.d === 1n
    ? rest
    : value;
}

function isIntegerLiteral(value: Node, expected: Node): boolean {
  if (value.kind !== "number" || !isInteger(value.value)) return false;
  const { notation } = value;
  if (notation === undefined) return true;
  if (notation.kind === "based") return baseOf(expected) !== undefined;
  return notation.kind === "scientific" && notation.isNormal;
}

/** Returns the base of a reference such as `11001_2`. */
export function baseOf(node: Node): number | undefined {
  if (node.kind === "number") return node.notation?.kind === "based" ? node.notation.base : undefined;
  return children(node)
    .map(baseOf)
    .find((base) => base !== undefined);
}

function isRationalLiteral(value: Node): value is NumberNode {
  if (value.kind !== "number") return false;
  const { notation } = value;
  if (notation === undefined) return true;
  return (
    notation.kind === "fraction" || notation.kind === "mixed" || (notation.kind === "scientific" && notation.isNormal)
  );
}

/** Returns true for `1.2 \cdot 10^5`: a mantissa of at least 1 and below 10, and a power of ten. */
function isScientific(value: Node, form: ValueForm): boolean {
  if (value.kind !== "multiply" || value.factors.length !== 2) return false;
  const [mantissa, scale] = value.factors as [Node, Node];
  if (mantissa.kind !== "number" || mantissa.notation !== undefined || scale.kind !== "power") return false;
  const { n, d } = mantissa.value;
  const size = n < 0n ? -n : n;
  const { base, exponent } = scale;
  return (
    size >= d &&
    size < 10n * d &&
    isWhole(base) &&
    base.value.n === 10n &&
    isWhole(exponent) &&
    (form !== "integer" || exponent.value.n >= 0n)
  );
}

const isWhole = (node: Node): node is NumberNode =>
  node.kind === "number" && isInteger(node.value) && node.notation === undefined && node.decimals === undefined;

function isRatio(value: Node, form: ValueForm, expected: Node): boolean {
  const part = form === "rational" ? "integer" : form;
  return value.kind === "ratio" && value.parts.every((item) => isInForm(part, item, expected));
}

/** `-1` as an exponent writes a fraction line. */
const isReciprocal = (node: Node): node is Extract<Node, { kind: "power" }> =>
  node.kind === "power" && isWhole(node.exponent) && node.exponent.value.n === -1n;

const isConstant = (node: Node): boolean => node.kind === "constant" && node.name !== "infinity";

/** Whether a value is a sum of products of numerals, roots and constants, with at most one sum among the factors of a product and one fraction line. */
function isSurd(value: Node, canNest: boolean, inFraction = false): boolean {
  if (value.kind === "add") return value.terms.every((term) => isSurd(term, canNest, inFraction));
  if (value.kind === "plusminus") return isSurd(value.value, canNest, inFraction);
  const factors = factorsOf(value);
  const sums = factors.filter((factor) => factor.kind === "add");
  const above = factors.filter((factor) => !isReciprocal(factor));
  const below = factors.filter(isReciprocal);
  return (
    sums.length <= 1 &&
    below.length <= (inFraction ? 0 : 1) &&
    above.every((factor) =>
      factor.kind === "add" ? isSurd(factor, canNest, inFraction) : isSurdFactor(factor, canNest),
    ) &&
    below.every(({ base }) => isSurd(base, canNest, true))
  );
}

function isSurdFactor(factor: Node, canNest: boolean): boolean {
  if (isRationalLiteral(factor) || isConstant(factor)) return true;
  if (factor.kind === "plusminus") return isSurd(factor.value, canNest);
  if (factor.kind !== "power" || factor.exponent.kind !== "number") return false;
  const { base, exponent } = factor;
  if (isInteger(exponent.value)) return isConstant(base);
  return isRationalLiteral(withoutSign(base)) || isProductOfConstant(base) || (canNest && isSurd(base, canNest));
}

/** Returns true for the radicand of `\sqrt{2\pi}` and `\sqrt{\frac{\pi}{3}}`. */
function isProductOfConstant(node: Node): boolean {
  const factors = factorsOf(node);
  return (
    factors.some(isConstant) && factors.every((factor) => isConstant(factor) || isRationalLiteral(bottomOf(factor)))
  );
}

const bottomOf = (factor: Node): Node => (isReciprocal(factor) ? factor.base : factor);

const isRoot = (node: Node): node is Extract<Node, { kind: "power" }> =>
  node.kind === "power" && node.exponent.kind === "number" && !isInteger(node.exponent.value);

const hasNestedRoot = anywhere(
  (part) => isRoot(part) && !isRationalLiteral(withoutSign(part.base)) && !isProductOfConstant(part.base),
);
