/** Derivatives of expressions, by the rules of differentiation. */
import { call, difference, negated, number, ONE_NODE, power, product, quotient, sum, type Node } from "./node.ts";
import { some } from "./walk.ts";
import { table } from "../table.ts";

const ZERO: Node = number(0);
const square = (node: Node): Node => power(node, number(2));

/** Outer derivatives of functions of one argument. */
const OUTER: Readonly<Record<string, (u: Node) => Node>> = table({
  sin: (u) => call("cos", u),
  cos: (u) => negated(call("sin", u)),
  tan: (u) => power(call("cos", u), number(-2)),
  cot: (u) => negated(power(call("sin", u), number(-2))),
  sec: (u) => product([call("sec", u), call("tan", u)]),
  csc: (u) => negated(product([call("csc", u), call("cot", u)])),
  ln: (u) => power(u, number(-1)),
  asin: (u) => power(difference(ONE_NODE, square(u)), number({ n: -1n, d: 2n })),
  acos: (u) => negated(power(difference(ONE_NODE, square(u)), number({ n: -1n, d: 2n }))),
  atan: (u) => power(sum([ONE_NODE, square(u)]), number(-1)),
  sinh: (u) => call("cosh", u),
  cosh: (u) => call("sinh", u),
  tanh: (u) => power(call("cosh", u), number(-2)),
});

/** Returns the derivative with respect to a variable; undefined where a part has none that is known here. */
export function derivative(node: Node, variable: string): Node | undefined {
  if (!some(node, (part) => part.kind === "symbol" && part.name === variable)) return ZERO;
  switch (node.kind) {
    case "symbol":
      return ONE_NODE;
    case "add": {
      const terms = node.terms.map((term) => derivative(term, variable));
      return terms.includes(undefined) ? undefined : sum(terms as Node[]);
    }
    case "multiply": {
      const terms = node.factors.map((factor, i) => {
        const inner = derivative(factor, variable);
        return inner && product(node.factors.map((other, j) => (i === j ? inner : other)));
      });
      return terms.includes(undefined) ? undefined : sum(terms as Node[]);
    }
    case "power":
      return ofPower(node.base, node.exponent, variable);
    case "call": {
      const [argument, base] = node.args;
      if (!argument) return undefined;
      if (node.name === "log" && base) return derivative(quotient(call("ln", argument), call("ln", base)), variable);
      const outer = OUTER[node.name];
      const inner = node.args.length === 1 ? derivative(argument, variable) : undefined;
      return outer && inner && product([outer(argument), inner]);
    }
    default:
      return undefined;
  }
}

function ofPower(base: Node, exponent: Node, variable: string): Node | undefined {
  const baseDerivative = derivative(base, variable);
  const exponentDerivative = derivative(exponent, variable);
  if (!baseDerivative || !exponentDerivative) return undefined;
  const byBase = product([exponent, power(base, difference(exponent, ONE_NODE)), baseDerivative]);
  if (exponentDerivative === ZERO) return byBase;
  const isE = base.kind === "constant" && base.name === "e";
  const byExponent = product([power(base, exponent), isE ? ONE_NODE : call("ln", base), exponentDerivative]);
  return baseDerivative === ZERO ? byExponent : sum([byBase, byExponent]);
}

/**
 * Returns the derivative that an application `derivative<order>_<variable>()` stands for; undefined for other names.
 */
export function differentiate(name: string, args: readonly Node[]): Node | undefined {
  const match = /^derivative([1-3]?)_(\w+)\(\)$/.exec(name);
  let result = match ? args[0] : undefined;
  for (let order = Number(match?.[1] || "1"); order > 0 && result; order--)
    result = derivative(result, match?.[2] as string);
  return result;
}
