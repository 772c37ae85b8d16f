import type { StepMaker } from "./step.ts";

/** Steps from an integer to an integer. Results of a few steps are far below 2^53. */
export const integerSteps: readonly StepMaker<number>[] = [
  (random) => {
    const k = random.integer(2, 30);
    return {
      prose: `add ${k}`,
      terse: `+${k}`,
      python: (v) => `${v} + ${k}`,
      typescript: (v) => `${v} + ${k}`,
      apply: (v) => v + k,
    };
  },
  (random) => {
    const k = random.integer(2, 9);
    return {
      prose: `multiply by ${k}`,
      terse: `*${k}`,
      python: (v) => `${v} * ${k}`,
      typescript: (v) => `${v} * ${k}`,
      apply: (v) => v * k,
    };
  },
  (random) => {
    const k = random.integer(5, 40);
    return {
      prose: `take the remainder of a division by ${k}`,
      terse: `%${k}`,
      python: (v) => `${v} % ${k}`,
      typescript: (v) => `${v} % ${k}`,
      apply: (v) => v % k,
    };
  },
  (random) => {
    const k = random.integer(2, 5);
    return {
      prose: `divide by ${k}, rounding down`,
      terse: `//${k}`,
      python: (v) => `${v} // ${k}`,
      typescript: (v) => `Math.floor(${v} / ${k})`,
      apply: (v) => Math.floor(v / k),
    };
  },
  (random) => {
    const k = random.integer(40, 200);
    return {
      prose: `replace it by ${k} if it is larger than that`,
      terse: `min ${k}`,
      python: (v) => `min(${v}, ${k})`,
      typescript: (v) => `Math.min(${v}, ${k})`,
      apply: (v) => Math.min(v, k),
    };
  },
  (random) => {
    const k = random.integer(10, 60);
    return {
      prose: `take its distance from ${k}`,
      terse: `|-${k}|`,
      python: (v) => `abs(${v} - ${k})`,
      typescript: (v) => `Math.abs(${v} - ${k})`,
      apply: (v) => Math.abs(v - k),
    };
  },
];
