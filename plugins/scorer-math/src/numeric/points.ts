/** Evaluation points, equal on every machine and for both orders of a pair. */
import type { Node } from "../tree/node.ts";
import { anywhere, some } from "../tree/walk.ts";
import type { Point } from "./evaluate.ts";
import type { Complex } from "./complex.ts";

/** Returns a generator of the kind xorshift32: the numbers must be generic, not unpredictable. */
function generator(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** Whether a variable must be a natural number for the expression to be meant: it is counted, or an exponent of -1. */
export function isDiscrete(node: Node, name: string): boolean {
  const has = (part: Node): boolean => some(part, (inner) => inner.kind === "symbol" && inner.name === name);
  return some(node, (part) => {
    if (part.kind === "call") {
      if (/^(?:sum|prod)\(\)$/.test(part.name)) return part.args.slice(1).some(has);
      return /^(?:factorial|doubleFactorial|binomial)$/.test(part.name) && part.args.some(has);
    }
    if (part.kind !== "power" || !has(part.exponent)) return false;
    return (
      (part.base.kind === "number" && part.base.value.n < 0n) ||
      (part.base.kind === "multiply" && part.base.factors[0]?.kind === "number" && part.base.factors[0].value.n < 0n)
    );
  });
}

/** Whether an expression has other formulas in other regions, as `|x|` and `\max(a, b)` do. */
export const isPiecewise = anywhere(
  (part) =>
    (part.kind === "call" && /^(?:abs|norm|max|min|sign|sgn|floor|ceil|ln|log)/.test(part.name)) ||
    (part.kind === "power" && part.exponent.kind === "number" && part.exponent.value.d % 2n === 0n),
);

/**
 * Draws values of the variables: reals of both signs with 40 random bits, or small naturals if `discrete`. From the eighth attempt on the signs and the sizes, up to
 * some thousand, are those of the bits of `attempt`.
 */
export function samplePoint(names: readonly string[], discrete: ReadonlySet<string>, attempt: number): Point {
  const next = generator(0x9e3779b9 + attempt * 0x85ebca6b);
  const point = new Map<string, Complex>();
  for (const name of names) {
    const zero = { mantissa: 0n, exponent: 0 };
    if (discrete.has(name)) {
      point.set(name, { re: { mantissa: BigInt(2 + (next() % 11)), exponent: 0 }, im: zero });
      continue;
    }
    const bits = (BigInt(next()) << 8n) | BigInt(next() & 0xff);
    // Attempts alternate: positive, mixed signs, in the unit interval, larger.
    const place = point.size;
    const isNegative = attempt < 8 ? attempt % 2 === 1 && (next() & 1) === 1 : ((attempt >> (place % 3)) & 1) === 1;
    const size = attempt < 8 ? (attempt % 3 === 2 ? 0 : attempt % 3 === 1 ? 2 : 3) : [0, 12, 5][(attempt + place) % 3];
    const exponent = -40 + (size as number);
    point.set(name, { re: { mantissa: isNegative ? -bits : bits, exponent }, im: zero });
  }
  return point;
}
