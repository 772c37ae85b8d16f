import { z } from "zod";
import type { OptimizerOptions } from "./optimizer-options.ts";

/** Options that mean nothing beside others. */
export interface OptionRule<Name extends string> {
  /** Whether the rule is broken by an option that is not at its default. */
  readonly when: boolean;
  readonly options: readonly Name[];
  /** Goes on after the option's name: "has no effect without kl_coefficient". */
  readonly because: string;
}

/**
 * Refuses, each with its place in the file, options that were set and have no effect or no sense beside others: a run that ignores what somebody
 * asked for is worse than one that does not begin. An option at its default is never refused.
 */
export function withOptionRules<Schema extends z.ZodObject>(
  schema: Schema,
  rules: (options: z.output<Schema>) => readonly OptionRule<Extract<keyof z.output<Schema>, string>>[],
): Schema {
  return schema.superRefine((options, context) => {
    for (const { when, options: names, because } of rules(options as z.output<Schema>)) {
      for (const name of when ? names : []) {
        const standard = z.safeParse(schema.shape[name] as z.ZodType, undefined).data;
        if (options[name] !== standard)
          context.addIssue({ code: "custom", path: [name], message: because, input: options[name] });
      }
    }
  });
}

/** Rules of `optimizerOptions`. */
export function optimizerRules({
  lr_schedule,
  lr_floor,
  learning_rate,
}: OptimizerOptions): readonly OptionRule<"lr_floor">[] {
  return [
    {
      when: lr_schedule === "constant",
      options: ["lr_floor"],
      because: "has no effect: with lr_schedule: constant the rate never falls",
    },
    {
      when: lr_schedule !== "constant" && lr_floor > learning_rate,
      options: ["lr_floor"],
      because: `is above learning_rate (${learning_rate}): the rate would rise`,
    },
  ];
}
