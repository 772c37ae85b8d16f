/** Intervals, unions, set builders and inequalities, compared as sets of real numbers. */
import { asUnknown, compileRegion } from "../region/compile.ts";
import { sameRegion, type End } from "../region/region.ts";
import type { Node } from "../tree/node.ts";
import { children, variables } from "../tree/walk.ts";
import { different, equivalent, type Outcome } from "../verdict.ts";
import type { Context } from "./context.ts";
import { compareExact } from "./scalar.ts";

/** Compares two sets of reals; undefined when one side is not a set of reals with constant ends. */
export function compareRegions(c: Context, expected: Node, answer: Node): Outcome | undefined {
  const isSame = (a: End, b: End): boolean => compareExact(c, a.node, b.node).verdict === "equivalent";
  const compiler = { work: c.work, isSame };
  const left = compileRegion(compiler, expected);
  const right = left && compileRegion(compiler, answer);
  if (!left || !right) return undefined;
  const names = [unknowns(expected), unknowns(answer)] as const;
  // Conditions on several unknowns are no set of real numbers.
  if (names[0].size > 1 || names[1].size > 1) return undefined;
  if (names[0].size > 0 && names[1].size > 0 && [...names[0]].join() !== [...names[1]].join())
    return different("real set", "conditions on different variables");
  return sameRegion(left, right, isSame)
    ? equivalent("real set", "the same set of real numbers")
    : different("real set", "different sets of real numbers");
}

/** Returns the free variables; the roots `x_1`, `x_2` of one unknown are values of this unknown. */
function unknowns(node: Node): Set<string> {
  const names = freeVariables(node);
  const letters = new Set([...names].map((name) => name.replace(/_\d+$/, "")));
  return names.size > 1 && letters.size === 1 ? letters : names;
}

/** Returns the variables that a statement is about; the one that a set builder binds is not. */
function freeVariables(node: Node): Set<string> {
  if (node.kind === "builder") return new Set();
  if (children(node).length === 0) return variables(node);
  const parts = node.kind === "relation" ? node.operands.map(asUnknown) : children(node);
  return new Set(parts.flatMap((child) => [...freeVariables(child)]));
}
