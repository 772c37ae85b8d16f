/** Antiderivatives: `+ C` stands for every constant, so the remaining expressions must agree up to a constant. */
import { derivative } from "../tree/derivative.ts";
import { difference, sum, symbol, type Node } from "../tree/node.ts";
import { mapChildren, some, variables } from "../tree/walk.ts";
import type { Outcome } from "../verdict.ts";
import type { Context } from "./context.ts";
import { compareExact } from "./scalar.ts";

/** Letters that are integrated over. Others (a, k, n, ...) are parameters, on which the constant may depend. */
const VARIABLE = /^(?:[xyztuvws]|theta|phi)(?:_\w+)?$/;

type Antiderivative = { readonly rest: Node; readonly constant: string };

/** Compares `F(x) + C` with `G(x) + C`, or an integral without limits with `F(x) + C`; undefined for anything else. */
export function compareAntiderivatives(c: Context, expected: Node, answer: Node): Outcome | undefined {
  const left = asAntiderivative(expected);
  const right = asAntiderivative(answer);
  if (left && right && !(left.constant === "c" && right.constant === "c"))
    return compareUpToConstant(c, left.rest, right.rest);
  const outcome = left ? compareIntegral(c, answer, left) : right ? compareIntegral(c, expected, right) : undefined;
  return outcome;
}

function compareIntegral(c: Context, integral: Node, { rest }: Antiderivative): Outcome | undefined {
  const by =
    integral.kind === "call" && integral.args.length === 1 ? /^int_d(\w+)\(\)$/.exec(integral.name)?.[1] : undefined;
  const slope = by === undefined ? undefined : derivative(rest, by);
  return integral.kind === "call" && slope ? compareExact(c, slope, integral.args[0] as Node) : undefined;
}

/** Reads `F(x) + C`, where C occurs nowhere else and there are no other capital letters that could make it a point or a set. */
function asAntiderivative(node: Node): Antiderivative | undefined {
  if (node.kind !== "add") return undefined;
  const at = node.terms.findIndex((term) => constantOf(term) !== undefined);
  if (at < 0) return undefined;
  const rest = sum(node.terms.filter((_, i) => i !== at));
  const names = [...variables(rest)];
  const isPlain =
    names.some((name) => VARIABLE.test(name)) && names.every((name) => !/^[A-Z]/.test(name) && name !== "c");
  return isPlain ? { rest, constant: constantOf(node.terms[at] as Node) as string } : undefined;
}

/** Returns the name of a constant of integration, with a factor or without one. */
function constantOf(node: Node): string | undefined {
  if (node.kind === "text") return /^(?:arbitrary )?const(?:ant|\.)?$/i.test(node.value.trim()) ? "C" : undefined;
  if (node.kind === "symbol") return /^[CcK](?:_\w+)?$/.test(node.name) ? (node.name[0] as string) : undefined;
  const isScaled = node.kind === "multiply" && node.factors.length === 2 && node.factors[0]?.kind === "number";
  return isScaled ? constantOf(node.factors[1] as Node) : undefined;
}

/** a - b is constant exactly when it is the same at independent values of its variables. */
function compareUpToConstant(c: Context, a: Node, b: Node): Outcome {
  const gap = difference(a, b);
  const integrated = [...variables(gap)].filter((name) => VARIABLE.test(name));
  const elsewhere = (node: Node): Node =>
    node.kind === "symbol" && integrated.includes(node.name) ? symbol(`${node.name}'`) : mapChildren(node, elsewhere);
  const outcome = compareExact(c, gap, elsewhere(gap));
  return outcome.verdict === "equivalent"
    ? { ...outcome, reason: `equal up to a constant: ${outcome.reason}` }
    : outcome;
}

/** Arbitrary constants of the solutions of a differential equation: C, c, C_1, A, ... beside a variable. */
const ARBITRARY = /^(?:[CcAB]|[Cc]_\{?\d\}?)$/;
const MOST_CONSTANTS = 3;

/**
 * Returns the answer with its arbitrary constants named after those of the reference, in each order that changes
 * something.
 */
export function withConstantsOf(expected: Node, answer: Node): readonly Node[] {
  const wanted = constantsOf(expected);
  const present = constantsOf(answer);
  if (wanted.length === 0 || wanted.length !== present.length || wanted.length > MOST_CONSTANTS) return [];
  const isSolution = (node: Node): boolean =>
    [...variables(node)].some((name) => /^[xt]$/.test(name)) &&
    some(node, (part) => part.kind === "power" || part.kind === "call");
  if (!isSolution(expected) || !isSolution(answer)) return [];
  return permutations(wanted).flatMap((names) => {
    if (names.join() === present.join()) return [];
    const renamed = (node: Node): Node =>
      node.kind === "symbol" && present.includes(node.name)
        ? symbol(names[present.indexOf(node.name)] as string)
        : mapChildren(node, renamed);
    return [renamed(answer)];
  });
}

function constantsOf(node: Node): readonly string[] {
  const names = [...variables(node)].filter((name) => ARBITRARY.test(name)).sort();
  return names.some((name) => /^c/i.test(name)) || names.length > 1 ? names : [];
}

function permutations(items: readonly string[]): readonly (readonly string[])[] {
  if (items.length < 2) return [items];
  return items.flatMap((item, i) => permutations(items.filter((_, j) => j !== i)).map((rest) => [item, ...rest]));
}
