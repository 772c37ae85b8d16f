/** Equality of numbers and expressions. */
import * as q from "../exact/rational.ts";
import { compareInField } from "../field/compare.ts";
import { NotScalar, Undefined } from "../normal/errors.ts";
import { crossDifference, type Fraction } from "../normal/fraction.ts";
import { Normaliser } from "../normal/normaliser.ts";
import { compareNumerically } from "../numeric/compare.ts";
import { show } from "../tree/show.ts";
import type { Node } from "../tree/node.ts";
import { anywhere } from "../tree/walk.ts";
import { different, equivalent, undecided, type Outcome } from "../verdict.ts";
import { Work, WorkExhausted } from "../work.ts";
import { approximate } from "../numeric/approximate.ts";
import type { Context } from "./context.ts";
import { hasEllipsis, withoutEllipsisTerms } from "./ellipsis.ts";
import { agreeTo, asPrinted, roundsTo } from "./decimal.ts";

/** Steps for a first normalisation; most answers need fewer. */
const QUICK_STEPS = 5_000;
/** Steps for exact normalisation, before random evaluation has its turn. */
const NORMAL_FORM_STEPS = 25_000;

export function compareScalars(c: Context, expected: Node, answer: Node): Outcome {
  const [first, second] = [letterString(expected), letterString(answer)];
  if (first !== undefined && second !== undefined && first.length === second.length) {
    return first === second ? equivalent("text", "the same letters") : different("text", "different letters");
  }
  if (expected.kind === "number" && answer.kind === "number" && q.equals(expected.value, answer.value))
    return equivalent("exact", "the same number");
  const percent = compareBarePercent(c, expected, answer);
  if (percent) return percent;
  const rounded = compareRounded(c, expected, answer);
  if (rounded) return rounded;
  if (expected.kind === "number" && answer.kind === "number") return different("exact", "another number");
  return compareExact(c, expected, answer);
}

/** Returns three or more adjacent capital letters as a string: they are an order of people, for example, and not a product. */
function letterString(node: Node): string | undefined {
  if (node.kind !== "multiply" || node.factors.length < 3) return undefined;
  const letters = node.factors.map((factor) =>
    factor.kind === "symbol" && /^[A-Z]$/.test(factor.name) ? factor.name : "",
  );
  return letters.includes("") ? undefined : letters.join("");
}

/** Compares `28` with `28\%`: answers omit the sign like units. A number below one may be the share itself. */
function compareBarePercent(c: Context, expected: Node, answer: Node): Outcome | undefined {
  if ((expected.kind === "percent") === (answer.kind === "percent")) return undefined;
  const [a, b] = [expected, answer].map((node) => (node.kind === "percent" ? node.value : node)) as [Node, Node];
  const size = approximate(a, c.work);
  if (!size || q.compare(q.absolute(size), q.ONE) < 0 || c.compare(a, b).verdict !== "equivalent") return undefined;
  return equivalent("units", "the same number of percent, with its sign left out on one side");
}

/** Compares values without rounding. Symmetric. */
export function compareExact(c: Context, a: Node, b: Node): Outcome {
  if (show(a) === show(b)) return equivalent("identical", "the same expression");
  const [left, right] = [withoutEllipsisTerms(a), withoutEllipsisTerms(b)];
  if (left !== a || right !== b) return compareExact(c, left, right);
  if (hasEllipsis(a) || hasEllipsis(b)) return undecided("structure", "an ellipsis stands for more than is written");
  const quick = compareNormalForms(c, a, b, QUICK_STEPS);
  if (typeof quick === "object") return quick;
  const field = compareInField(a, b, c.work);
  if (field?.verdict === "different") return field;
  const full = quick === "exhausted" ? compareNormalForms(c, a, b, NORMAL_FORM_STEPS) : quick;
  if (typeof full === "object") return full;
  if (field) return field;
  const numeric = compareNumerically(a, b, c.work);
  if (numeric.verdict === "equal") return equivalent("numeric", numeric.reason);
  return numeric.verdict === "different" ? different("numeric", numeric.reason) : undecided("numeric", numeric.reason);
}

/** Compares normal forms. `unknown`: the normal forms differ and prove nothing; `exhausted`: they take more than `steps`. */
function compareNormalForms(c: Context, a: Node, b: Node, steps: number): Outcome | "unknown" | "exhausted" {
  const normaliser = new Normaliser(new Work(steps));
  const left = attempt(c, normaliser, a);
  // The second side is evaluated independently of whether the first one has spent the budget.
  const right = attempt(c, left instanceof WorkExhausted ? new Normaliser(new Work(steps)) : normaliser, b);
  for (const side of [left, right]) if (side instanceof NotScalar) return different("structure", side.message);
  for (const side of [left, right])
    if (side instanceof Undefined) return different("exact", `undefined: ${side.message}`);
  if (left instanceof Error || right instanceof Error) return "exhausted";
  const difference = attempt(c, normaliser, () => crossDifference(normaliser.ring, left, right));
  if (difference instanceof Error) return "exhausted";
  if (difference.size === 0) return equivalent("normal form", "the same normal form");
  return normaliser.isComplete ? different("normal form", "different normal forms") : "unknown";
}

/** Runs a step of normalization. Returns its result, or the reason why it has none. Its work counts in the budget of the comparison. */
function attempt(c: Context, normaliser: Normaliser, step: Node): Fraction | NotScalar | Undefined | WorkExhausted;
function attempt<T>(c: Context, normaliser: Normaliser, step: () => T): T | NotScalar | Undefined | WorkExhausted;
function attempt(c: Context, normaliser: Normaliser, step: Node | (() => unknown)): unknown {
  const before = Math.min(normaliser.work.spent, normaliser.work.limit);
  try {
    return typeof step === "function" ? step() : normaliser.normalise(step);
  } catch (error) {
    if (error instanceof NotScalar || error instanceof Undefined || error instanceof WorkExhausted) return error;
    throw error;
  } finally {
    c.work.spend(Math.min(normaliser.work.spent, normaliser.work.limit) - before);
  }
}

/** Applies the rules for decimals and the options that allow approximations. */
function compareRounded(c: Context, expected: Node, answer: Node): Outcome | undefined {
  const { precision, tolerance } = c.options;
  const printed = asPrinted(expected);
  const isDecimal = printed !== undefined || hasDecimals(expected) || hasDecimals(answer);
  if (!printed && !(precision !== undefined && isDecimal) && !(tolerance !== undefined && tolerance > 0))
    return undefined;
  const value = approximate(answer, c.work);
  const reference = approximate(expected, c.work);
  if (!value || !reference) return undefined;
  if (q.equals(value, reference)) return undefined;
  if (printed && roundsTo(value, printed))
    return equivalent("rounding", `${show(answer)} rounds to the reference at its printed precision`);
  if (precision !== undefined && isDecimal && agreeTo(value, reference, precision))
    return equivalent("rounding", `equal to ${precision} decimal places`);
  if (tolerance !== undefined && tolerance > 0) {
    const allowed = q.multiply(
      q.absolute(reference),
      q.rational(BigInt(Math.round(Math.min(tolerance, 1) * 1e15)), 10n ** 15n),
    );
    if (q.compare(q.absolute(q.subtract(value, reference)), allowed) <= 0)
      return equivalent("tolerance", `within a relative error of ${tolerance}`);
  }
  return undefined;
}

const hasDecimals = anywhere((part) => part.kind === "number" && part.decimals !== undefined);
