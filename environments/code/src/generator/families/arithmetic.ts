import type { RandomStream } from "@mrlm/kit";
import { type Family, sketch } from "../sketch.ts";
import { integerSteps } from "../steps/integers.ts";
import { chain, drawSteps, type Step } from "../steps/step.ts";

/** Arithmetic on two integers: one expression, and from difficulty 3 on further steps. */
export const arithmetic: Family = {
  name: "arithmetic",
  generate(random, difficulty) {
    const first = expression(random);
    const steps = drawSteps(random, integerSteps, Math.floor(difficulty / 2.5));
    const rest = chain("value", [first.step, ...steps]);
    const then = steps.length === 0 ? "" : ` With the result: ${steps.map(({ prose }) => prose).join(", then ")}.`;
    return sketch<[number, number]>({
      name: "combine",
      parameters: [
        ["a", "int"],
        ["b", "int"],
      ],
      returns: "int",
      prose: `Compute ${first.prose}.${then} Return the final number.`,
      terse: rest.terse,
      python: rest.python,
      typescript: rest.typescript.map((line, i) => (i === 0 && steps.length > 0 ? `let ${line}` : line)),
      solve: (a, b) => steps.reduce((value, step) => step.apply(value), first.value(a, b)),
      lesser: steps.map(
        (_, left) => (a: number, b: number) =>
          steps.reduce((value, step, i) => (i === left ? value : step.apply(value)), first.value(a, b)),
      ),
      draw: (stream) => [stream.integer(0, 50), stream.integer(0, 50)],
      edges: [[0, 0]],
    });
  },
};

/** Draws the first expression, of `a` and `b`. */
function expression(random: RandomStream): {
  prose: string;
  step: Step<number>;
  value: (a: number, b: number) => number;
} {
  const [p, q] = [random.integer(2, 9), random.integer(2, 9)];
  const one = (code: string, prose: string, value: (a: number, b: number) => number) => ({
    prose,
    step: {
      prose,
      terse: code.replaceAll(" ", ""),
      python: () => code,
      typescript: () => code,
      apply: (v: number) => v,
    },
    value,
  });
  return random.pick([
    one(`${p} * a + ${q} * b`, `${p} times a plus ${q} times b`, (a, b) => p * a + q * b),
    one(`a * b + ${p + q}`, `the product of a and b, plus ${p + q}`, (a, b) => a * b + p + q),
    one(`(a + ${p}) * (b + ${q})`, `the product of a + ${p} and b + ${q}`, (a, b) => (a + p) * (b + q)),
    one(`a * a + ${p} * b`, `the square of a plus ${p} times b`, (a, b) => a * a + p * b),
    one(`${p} * (a + b) + ${q}`, `${p} times the sum of a and b, plus ${q}`, (a, b) => p * (a + b) + q),
  ]);
}
