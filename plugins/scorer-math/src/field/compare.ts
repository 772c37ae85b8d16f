/**
 * Equality of rational expressions by evaluation in the field of 2^61 - 1 elements at random points (Schwartz 1980,
 * Zippel 1979): different expressions whose cross difference has degree d agree at one point with probability at most
 * d/2^61. A difference found is a proof, as far as the field's characteristic divides no coefficient that matters.
 */
import { abs } from "../exact/integer.ts";
import type { Node } from "../tree/node.ts";
import { variables } from "../tree/walk.ts";
import { different, equivalent, type Outcome } from "../verdict.ts";
import type { Work } from "../work.ts";

const PRIME = (1n << 61n) - 1n;
const TRIALS = 2;
const LARGEST_EXPONENT = 1n << 20n;

/** Error for an expression that is not a rational function over the rationals. */
class NotRational extends Error {}
class Pole extends Error {}

/** Returns the outcome, or undefined when an expression has no value in the field. */
export function compareInField(a: Node, b: Node, work: Work): Outcome | undefined {
  const names = [...new Set([...variables(a), ...variables(b)])].sort();
  try {
    for (let trial = 0, poles = 0; trial < TRIALS; trial++) {
      const point = new Map(names.map((name, index) => [name, pseudoRandom(BigInt(index + 1 + 64 * (trial + poles)))]));
      try {
        if (evaluate(a, point, work) !== evaluate(b, point, work))
          return different("finite field", "they differ at a point modulo 2^61 - 1");
      } catch (error) {
        if (!(error instanceof Pole) || ++poles > 3) throw error;
        trial--;
      }
    }
    return equivalent(
      "finite field",
      `equal at ${TRIALS} random points modulo 2^61 - 1; probability of error below (d/2^61)^${TRIALS} for degree d`,
    );
  } catch (error) {
    if (error instanceof NotRational || error instanceof Pole) return undefined;
    throw error;
  }
}

/** Returns generic residues, the same on every machine. */
function pseudoRandom(index: bigint): bigint {
  return power(0x1f3d5b79a2c4e687n % PRIME, index * 1_000_003n + 12_345n);
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  let square = base % PRIME;
  for (let k = exponent; k > 0n; k >>= 1n) {
    if (k & 1n) result = (result * square) % PRIME;
    square = (square * square) % PRIME;
  }
  return result;
}

function inverse(value: bigint): bigint {
  if (value === 0n) throw new Pole();
  return power(value, PRIME - 2n);
}

function residue(value: bigint): bigint {
  const r = value % PRIME;
  return r < 0n ? r + PRIME : r;
}

function evaluate(node: Node, point: ReadonlyMap<string, bigint>, work: Work): bigint {
  work.spend(2);
  switch (node.kind) {
    case "number":
      if (node.value.d === 1n) return residue(node.value.n);
      work.spend(60);
      return (residue(node.value.n) * inverse(residue(node.value.d))) % PRIME;
    case "symbol":
      return point.get(node.name) as bigint;
    case "add":
      return node.terms.reduce((total, term) => (total + evaluate(term, point, work)) % PRIME, 0n);
    case "multiply":
      return node.factors.reduce((total, factor) => (total * evaluate(factor, point, work)) % PRIME, 1n);
    case "percent":
      return (evaluate(node.value, point, work) * inverse(100n)) % PRIME;
    case "power": {
      const exponent = wholeNumber(node.exponent, work);
      work.spend(60);
      const value = power(evaluate(node.base, point, work), abs(exponent));
      return exponent < 0n ? inverse(value) : value;
    }
    default:
      throw new NotRational();
  }
}

/** Returns the exponent as an integer of at most 64 bits, from literals, products and powers of them. */
function wholeNumber(node: Node, work: Work): bigint {
  work.spend();
  let value: bigint;
  if (node.kind === "number" && node.value.d === 1n) value = node.value.n;
  else if (node.kind === "add") value = node.terms.reduce((total, term) => total + wholeNumber(term, work), 0n);
  else if (node.kind === "multiply")
    value = node.factors.reduce((total, factor) => total * wholeNumber(factor, work), 1n);
  else if (node.kind === "power") {
    const base = wholeNumber(node.base, work);
    const exponent = wholeNumber(node.exponent, work);
    if (exponent < 0n || (exponent > 64n && abs(base) > 1n)) throw new NotRational();
    value = abs(base) > 1n ? base ** exponent : exponent === 0n ? 1n : base === -1n && exponent % 2n === 0n ? 1n : base;
  } else throw new NotRational();
  if (abs(value) > LARGEST_EXPONENT) throw new NotRational();
  return value;
}
