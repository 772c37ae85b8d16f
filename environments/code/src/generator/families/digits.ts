import { type Family, sketch } from "../sketch.ts";
import { integerSteps } from "../steps/integers.ts";
import { chain, drawSteps, sentence, type StepMaker } from "../steps/step.ts";

const digitsOf = (value: number): number[] => Array.from(String(value), Number);

const digitSteps: readonly StepMaker<number>[] = [
  () => ({
    prose: "reverse the order of its digits",
    terse: "reverse digits",
    python: (v) => `int(str(${v})[::-1])`,
    typescript: (v) => `Number([...String(${v})].reverse().join(""))`,
    apply: (v) => Number(digitsOf(v).toReversed().join("")),
  }),
  () => ({
    prose: "sort its digits in descending order",
    terse: "digits desc",
    python: (v) => `int("".join(sorted(str(${v}), reverse=True)))`,
    typescript: (v) => `Number([...String(${v})].sort().reverse().join(""))`,
    apply: (v) =>
      Number(
        digitsOf(v)
          .toSorted((a, b) => b - a)
          .join(""),
      ),
  }),
  (random) => {
    const k = random.integer(1, 6);
    return {
      prose: `add up those of its digits that are larger than ${k}`,
      terse: `sum digits>${k}`,
      python: (v) => `sum(int(d) for d in str(${v}) if int(d) > ${k})`,
      typescript: (v) => `[...String(${v})].map(Number).filter((d) => d > ${k}).reduce((total, d) => total + d, 0)`,
      apply: (v) => digitsOf(v).reduce((total, d) => total + (d > k ? d : 0), 0),
    };
  },
  (random) => {
    const [d, e] = random.shuffle([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    return {
      prose: `replace every digit ${d} by ${e}`,
      terse: `${d}to${e}`,
      python: (v) => `int(str(${v}).replace("${d}", "${e}"))`,
      typescript: (v) => `Number(String(${v}).replaceAll("${d}", "${e}"))`,
      apply: (v) =>
        Number(
          digitsOf(v)
            .map((digit) => (digit === d ? e : digit))
            .join(""),
        ),
    };
  },
  (random) => {
    const d = random.integer(0, 9);
    return {
      prose: `remove every digit ${d} (0 if no digit is left)`,
      terse: `drop ${d}`,
      python: (v) => `int(str(${v}).replace("${d}", "") or 0)`,
      typescript: (v) => `Number(String(${v}).replaceAll("${d}", ""))`,
      apply: (v) =>
        Number(
          digitsOf(v)
            .filter((digit) => digit !== d)
            .join("") || 0,
        ),
    };
  },
  (random) => {
    const k = random.integer(2, 4);
    return {
      prose: `count its digits that are divisible by ${k}`,
      terse: `count digits/${k}`,
      python: (v) => `sum(int(d) % ${k} == 0 for d in str(${v}))`,
      typescript: (v) => `[...String(${v})].filter((d) => Number(d) % ${k} === 0).length`,
      apply: (v) => digitsOf(v).filter((digit) => digit % k === 0).length,
    };
  },
];

/** Operations on the decimal digits of a number; harder ones take more steps. */
export const digits: Family = {
  name: "digits",
  generate(random, difficulty) {
    const first = random.pick(integerSteps.slice(0, 2))(random);
    const steps =
      difficulty < 2
        ? drawSteps(random, digitSteps, 1)
        : [first, ...drawSteps(random, digitSteps, Math.ceil(difficulty / 3))];
    const { prose, terse, python, typescript, apply, shorter } = chain("n", steps);
    return sketch<[number]>({
      name: "rework_digits",
      parameters: [["n", "int"]],
      returns: "int",
      prose: `Begin with the number n, which is at least 0. ${sentence(prose)}. Return the result.`,
      terse,
      python,
      typescript,
      solve: apply,
      lesser: shorter,
      draw: (stream) => [stream.integer(0, stream.pick([9, 99, 999, 99_999]))],
      edges: [[0], [10]],
    });
  },
};
