import type { Family } from "./problem.ts";

type Operator = "+" | "-" | "*";
type Expression = { readonly text: string; readonly value: number; readonly tight: boolean };

/** Sums, differences and products of whole numbers. Higher difficulty: more terms and larger numbers. */
export const arithmetic: Family = {
  name: "arithmetic",
  generate(random, difficulty) {
    const terms = 2 + Math.floor(difficulty / 4);
    const highest = [9, 20, 50, 99, 200, 500, 999, 2_000, 5_000, 9_999][difficulty - 1] as number;
    const steps: string[] = [];
    let left: Expression = leaf(random.integer(1, highest));
    for (let i = 1; i < terms; i++) {
      const operator: Operator = random.pick(difficulty < 2 ? ["+", "-"] : ["+", "-", "*"]);
      const right = random.integer(1, operator === "*" ? Math.min(highest, 12 * Math.ceil(difficulty / 3)) : highest);
      const value = apply(left.value, operator, right);
      steps.push(`${left.value} ${operator} ${right} = ${value}`);
      const operand = operator === "*" && !left.tight ? `(${left.text})` : left.text;
      left = { text: `${operand} ${operator} ${right}`, value, tight: operator === "*" };
    }
    return {
      prose: `What is ${left.text}?`,
      terse: left.text.replaceAll(" ", ""),
      answer: String(left.value),
      steps,
      compare: "value",
    };
  },
};

function leaf(value: number): Expression {
  return { text: String(value), value, tight: true };
}

function apply(left: number, operator: Operator, right: number): number {
  if (operator === "+") return left + right;
  return operator === "-" ? left - right : left * right;
}
