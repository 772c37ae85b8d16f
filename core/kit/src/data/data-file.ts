import { z } from "zod";

/** Option `data` of an environment with tasks from a file. An environment may extend it by fields of its own. */
export const dataFile = z.strictObject({
  path: z
    .string()
    .min(1)
    .describe(
      "A JSONL file, relative to the configuration; on a server that the run did not start, to its --data-root",
    ),
  eval_share: z
    .number()
    .min(0)
    .max(1)
    .default(0.1)
    .describe("Share of the distinct questions that is never trained on"),
});

/**
 * Returns a schema that refuses options without effect: those of the generators beside `data`.
 * @param generators names of the options that only concern generated tasks
 */
export function refuseBesideData<Options>(
  schema: z.ZodType<Options>,
  generators: readonly string[],
): z.ZodType<Options> {
  return z.preprocess((given, context) => {
    if (typeof given === "object" && given !== null && "data" in given && given.data !== undefined)
      for (const name of generators.filter((each) => each in given))
        context.addIssue({
          code: "custom",
          path: [name],
          message: "has no effect on tasks from a file: leave it or `data` out",
          input: given,
        });
    return given;
  }, schema);
}
