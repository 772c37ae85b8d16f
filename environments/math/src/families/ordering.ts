import type { Family } from "./problem.ts";

/** Digits of a string to sort in ascending order: d + 1 digits at difficulty d. */
export const ordering: Family = {
  name: "ordering",
  generate(random, difficulty) {
    const digits = Array.from({ length: difficulty + 1 }, () => random.integer(0, 9));
    const sorted = digits.toSorted((one, other) => one - other);
    const given = digits.join("");
    return {
      prose: `Write the digits of ${given} in ascending order, without spaces.`,
      terse: `sort ${given}`,
      answer: sorted.join(""),
      steps: [`From smallest to largest: ${sorted.join(", ")}.`],
      compare: "digits",
    };
  },
};
