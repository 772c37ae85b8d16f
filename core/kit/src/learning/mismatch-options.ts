import { z } from "zod";
import type { OptionRule } from "./option-rules.ts";

/** Options of the correction for a trainer whose log-probabilities differ from those that sampled, to spread into the schema of an algorithm. */
export const mismatchOptions = {
  old_policy: z
    .enum(["trainer", "sampler"])
    .default("trainer")
    .describe("Log-probabilities in the denominator of the ratio"),
  mismatch: z
    .enum(["none", "truncate", "mask", "drop"])
    .default("none")
    .describe(
      "Importance weights of trainer against sampler, with old_policy: trainer; beyond mismatch_cap mask sets the weight to 0, and drop also removes the token from the denominators",
    ),
  mismatch_cap: z.number().gt(1).default(2).describe("Largest importance weight"),
  mismatch_floor: z
    .number()
    .positive()
    .max(1)
    .optional()
    .describe("Smallest importance weight that mask and drop keep; default 1 / mismatch_cap"),
  mismatch_level: z
    .enum(["token", "sequence", "geometric"])
    .default("token")
    .describe(
      "One weight for each token, or for all tokens of an episode: the product of their ratios, or its geometric mean",
    ),
};

/** Parsed {@link mismatchOptions}. */
export type MismatchOptions = z.output<z.ZodObject<typeof mismatchOptions>>;

/** A value of the option `mismatch`. */
export type MismatchCorrection = MismatchOptions["mismatch"];

/** Reason for which these options have a wrong gradient for episodes of earlier weights; `undefined` if they have not. */
export function uncorrected({ mismatch, old_policy: old }: MismatchOptions): string | undefined {
  return mismatch === "none" && old === "trainer"
    ? "`mismatch: none` with `old_policy: trainer` treats them as episodes of the newest weights: set `mismatch: truncate`"
    : undefined;
}

/** Rules of {@link mismatchOptions}. */
export function mismatchRules({
  old_policy: old,
  mismatch,
}: MismatchOptions): readonly OptionRule<"mismatch" | "mismatch_cap" | "mismatch_floor" | "mismatch_level">[] {
  return [
    {
      when: old === "sampler",
      options: ["mismatch"],
      because: "corrects the trainer's old log-probabilities, which old_policy: sampler does not use",
    },
    {
      when: mismatch === "none",
      options: ["mismatch_cap", "mismatch_floor", "mismatch_level"],
      because: "has no effect without mismatch: truncate, mask or drop",
    },
    {
      when: mismatch === "truncate",
      options: ["mismatch_floor"],
      because: "has no effect with mismatch: truncate, which has no lower bound",
    },
    {
      when: mismatch === "drop",
      options: ["mismatch_level"],
      because: "has no effect with mismatch: drop, which removes single tokens",
    },
  ];
}
