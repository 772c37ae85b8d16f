/** Verifier for mathematical answers: extraction, parsing, and equivalence, with a verdict that names the deciding method. */
import { definePlugin } from "@mrlm/kit";
import { z } from "zod";
import { ANSWER_FORMS } from "./form/form.ts";
import { MathScorer } from "./scorer.ts";

export { extract } from "./extract/extract.ts";
export { verify } from "./verify.ts";

const options = z
  .strictObject({
    precision: z.int().nonnegative().optional(),
    tolerance: z.number().min(0).max(1).optional(),
    strict: z.boolean().optional(),
    allow_set_relation_comp: z.boolean().optional(),
    mode: z.enum(["strict", "lenient"]).optional(),
    form: z.enum(ANSWER_FORMS).optional(),
  })
  .default({});

export default definePlugin({
  name: "@mrlm/scorer-math",
  options,
  scorers: { "math@2": (_context, options) => new MathScorer(options) },
  examples: {
    scorers: {
      "math@2": [
        {
          request: { expected: "1/2" },
          right: ["so it is $\\boxed{0.5}$", "#### 1/2", "$\\frac{2}{4}$"],
          wrong: ["$\\boxed{0.6}$", "$\\boxed{1 - 0.5}$", "I do not know."],
          unreadable: ["$\\boxed{\\square}$", "$\\boxed{\\int_0^1 e^{-x^4}\\,dx}$"],
          badReference: [{ expected: "\\square", answer: "1/2" }],
        },
        {
          request: { expected: "5", schema: "answer" },
          right: ["<answer>5</answer>"],
          wrong: ["The answer is 5.", "<answer>6</answer>"],
        },
      ],
    },
  },
});
