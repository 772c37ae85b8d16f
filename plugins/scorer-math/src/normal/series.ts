/** Sums and products with numeric limits. */
import * as q from "../exact/rational.ts";
import { number, type Node } from "../tree/node.ts";
import { mapChildren } from "../tree/walk.ts";
import * as frac from "./fraction.ts";
import type { Fraction } from "./fraction.ts";
import type { NormalForms } from "./context.ts";

const MOST_TERMS = 500n;

/** Returns the value of `sum(body, k = low, high)` with whole limits; undefined otherwise. */
export function finiteSum(n: NormalForms, name: string, args: readonly Node[]): Fraction | undefined {
  const [body, start, end] = args;
  if (!body || !end || start?.kind !== "relation" || start.operators[0] !== "=" || end.kind === "constant")
    return undefined;
  const [index, first] = start.operands;
  if (index?.kind !== "symbol" && !(index?.kind === "constant" && index.name === "i")) return undefined;
  const low = first && frac.asConstant(n.normalise(first));
  const high = frac.asConstant(n.normalise(end));
  if (!low || !high || !q.isInteger(low) || !q.isInteger(high) || high.n - low.n > MOST_TERMS) return undefined;
  let out = name === "sum()" ? frac.ZERO : frac.ONE;
  for (let k = low.n; k <= high.n; k++) {
    const term = n.normalise(substitute(body, index.name, number(k)));
    out = name === "sum()" ? frac.add(n.ring, out, term) : frac.multiply(n.ring, out, term);
  }
  return out;
}

function substitute(node: Node, name: string, value: Node): Node {
  if ((node.kind === "symbol" || node.kind === "constant") && node.name === name) return value;
  return mapChildren(node, (child) => substitute(child, name, value));
}
