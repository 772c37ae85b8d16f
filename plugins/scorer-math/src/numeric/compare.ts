/**
 * Equality of expressions by evaluation at random points, at two precisions: a true difference stays when the
 * precision doubles, a rounding error shrinks. Two different analytic expressions agree at a random point with 40 random
 * bits per variable only on a set of measure zero; for polynomials of degree d by chance with probability below
 * d/2^40 a point (Schwartz and Zippel), and three points are used; where a formula differs by region, as |x| does, up to 16 of all signs and several sizes, which is no proof.
 */
import type { Node } from "../tree/node.ts";
import { some, variables } from "../tree/walk.ts";
import type { Work } from "../work.ts";
import * as cx from "./complex.ts";
import { OutOfRange, UndefinedAtPoint, Unevaluable } from "./errors.ts";
import { Evaluator } from "./evaluate.ts";
import { isDiscrete, isPiecewise, samplePoint } from "./points.ts";
import * as real from "./real.ts";

export type NumericOutcome = { readonly verdict: "equal" | "different" | "undecided"; readonly reason: string };

const LOW_BITS = 128;
const HIGH_BITS = 256;
const POINTS_WANTED = 3;
/** For formulas that differ by region, and for naturals, which are few. */
const MORE_POINTS_WANTED = 16;
const MOST_ATTEMPTS = 24;

export function compareNumerically(a: Node, b: Node, work: Work): NumericOutcome {
  const names = [...new Set([...variables(a), ...variables(b)])]
    .filter((name) => name !== "base" && !name.endsWith("()"))
    .sort();
  const discrete = new Set(names.filter((name) => isDiscrete(a, name) || isDiscrete(b, name)));
  const isImaginary = (node: Node): boolean => some(node, (part) => part.kind === "constant" && part.name === "i");
  const realFirst = !isImaginary(a) && !isImaginary(b);
  try {
    for (const isRealOnly of realFirst ? [true, false] : [false]) {
      const outcome = comparePoints(a, b, names, discrete, isRealOnly, work);
      if (outcome) return outcome;
    }
  } catch (error) {
    if (error instanceof Unevaluable || error instanceof OutOfRange)
      return { verdict: "undecided", reason: error.message };
    throw error;
  }
  return { verdict: "undecided", reason: "no point where both are defined" };
}

function comparePoints(
  a: Node,
  b: Node,
  names: readonly string[],
  discrete: ReadonlySet<string>,
  isRealOnly: boolean,
  work: Work,
): NumericOutcome | undefined {
  let agreed = 0;
  const needsMore = discrete.size > 0 || isPiecewise(a) || isPiecewise(b);
  const wanted = names.length === 0 ? 1 : needsMore ? MORE_POINTS_WANTED : POINTS_WANTED;
  for (let attempt = 0; attempt < (names.length === 0 ? 1 : MOST_ATTEMPTS) && agreed < wanted; attempt++) {
    const point = samplePoint(names, discrete, attempt);
    try {
      const verdict = compareAt(a, b, point, isRealOnly, work);
      if (verdict === "different")
        return { verdict, reason: names.length === 0 ? "their values differ" : "they differ at a point" };
      if (verdict === "undecided") return { verdict, reason: "the evaluation is not precise enough" };
      agreed++;
    } catch (error) {
      if (!(error instanceof UndefinedAtPoint)) throw error;
    }
  }
  if (agreed === 0 || (agreed < Math.min(wanted, POINTS_WANTED) && isRealOnly)) return undefined;
  return {
    verdict: "equal",
    reason: names.length === 0 ? `equal to ${LOW_BITS} bits` : `equal at ${agreed} random points to ${LOW_BITS} bits`,
  };
}

function compareAt(
  a: Node,
  b: Node,
  point: ReadonlyMap<string, cx.Complex>,
  isRealOnly: boolean,
  work: Work,
): "equal" | "different" | "undecided" {
  const differenceAt = (bits: number): readonly [difference: number, size: number] => {
    const evaluator = new Evaluator(work, bits, point, isRealOnly);
    const left = evaluator.evaluate(a);
    const right = evaluator.evaluate(b);
    const difference = cx.modulus(cx.add(left, cx.negate(right), bits), bits);
    const size = Math.max(real.magnitude(cx.modulus(left, bits)), real.magnitude(cx.modulus(right, bits)));
    return [real.magnitude(difference), size];
  };
  const [low, size] = differenceAt(LOW_BITS);
  // More than half of the bits are significant: no cancellation explains the difference.
  if (low > size - LOW_BITS / 4) {
    const [again] = differenceAt(HIGH_BITS);
    if (Math.abs(again - low) <= 1) return "different";
  }
  const [high, highSize] = differenceAt(HIGH_BITS);
  if (high === Number.NEGATIVE_INFINITY || high < highSize - LOW_BITS) return "equal";
  if (Math.abs(high - low) <= 1) return "different";
  return high < low - LOW_BITS / 2 ? "equal" : "undecided";
}
