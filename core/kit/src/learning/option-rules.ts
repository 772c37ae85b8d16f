import { z } from "zod";
import type { OptimizerOptions } from "./optimizer-options.ts";

/** Rule about options that have no effect or no meaning in combination with others. */
export interface OptionRule<Name extends string> {
  /** Returns true if an option that is not at its default breaks the rule. */
  readonly when: boolean;
  readonly options: readonly Name[];
  /** Predicate after the name of the option: "has no effect without kl_coefficient". */
  readonly because: string;
}

/**
 * Adds rules to a schema. Each option that breaks a rule is an issue at its place in the file: a run must not ignore an option that the user has set.
 * An option at its default breaks no rule.
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
