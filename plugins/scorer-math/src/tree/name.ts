/** Names of values in equations: `x`, `f(x)`, `|AB|`, `(p, q)`. */
import type { Node } from "./node.ts";
import { children } from "./walk.ts";

/** Functions whose value for named things is asked for under their name: `\max f(x) = 5`, `\gcd(a, b) = 6`. */
const NAMING = /^(?:max|min|gcd|lcm|det|tr|dim|deg|arg|re|im|norm)$/;

/** Whether the node is a name: made of symbols, applications and words, without a number of its own. */
export function isName(node: Node): boolean {
  switch (node.kind) {
    case "text":
    case "symbol":
      return true;
    case "constant":
      return node.name === "i" || node.name === "e";
    case "call":
      // An indefinite integral names its antiderivative; sums and limits are evaluated.
      if (node.name.endsWith("()"))
        return !/^(?:sum|prod|lim|i*int)/.test(node.name) || (node.name.startsWith("int_d") && node.args.length === 1);
      if (NAMING.test(node.name))
        return node.args.every((arg) => isName(arg.kind === "relation" ? (arg.operands[0] as Node) : arg));
      // A function of an angle of a figure is a name; with a variable it is an equation to solve.
      if (/^(?:sin|cos|tan|cot|sec|csc)$/.test(node.name))
        return node.args.every((arg) => arg.kind === "symbol" && /^(?:[A-Z]|angle )/.test(arg.name));
      return node.name === "abs" && node.args.every(isName);
    case "power":
      return isName(node.base) && node.exponent.kind === "number" && node.exponent.value.n === -1n;
    case "multiply":
    case "tuple":
    case "add":
    case "ratio":
    case "setOperation":
      return children(node).length > 0 && children(node).every(isName);
    default:
      return false;
  }
}

/** Whether a node is a unit vector i, j or k. The spelling is the same with and without an arrow. */
export function isBasisVector(node: Node): boolean {
  return node.kind === "symbol" ? /^[jk]$/.test(node.name) : node.kind === "constant" && node.name === "i";
}
