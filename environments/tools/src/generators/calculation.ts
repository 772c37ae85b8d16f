import type { RandomStream } from "@mrlm/kit";
import type { Generator } from "./generator.ts";

/** A product of large numbers, from difficulty 3 with a sum, from 6 with a second product: one call of the calculator. */
export const calculation: Generator = {
  toolsets: ["calculator"],
  turns: 2,
  generate(random, difficulty) {
    const digits = 2 + Math.ceil(difficulty / 2);
    const [one, other, third, fourth] = Array.from({ length: 4 }, () => numberOf(random, digits)) as [
      bigint,
      bigint,
      bigint,
      bigint,
    ];
    let expression = `${one} * ${other}`;
    let value = one * other;
    if (difficulty >= 3) {
      const isSum = random.integer(0, 1) === 1;
      expression += isSum ? ` + ${third}` : ` - ${third}`;
      value += isSum ? third : -third;
    }
    if (difficulty >= 6) {
      expression = `(${expression}) * ${fourth}`;
      value *= fourth;
    }
    const terse = expression.replaceAll(" ", "");
    return {
      prose: `What is ${expression}?`,
      terse,
      answer: String(value),
      required: ["calculator"],
      plan: [[{ name: "calculator", arguments: { expression: terse } }]],
    };
  },
};

/** Draws a number with exactly this many digits. The first one is at least 4, so that products of two have twice as many: a small model learns to copy one length. */
function numberOf(random: RandomStream, digits: number): bigint {
  return BigInt(random.integer(4 * 10 ** (digits - 1), 10 ** digits - 1));
}
