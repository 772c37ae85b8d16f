import type { JsonObject, JsonValue } from "@mrlm/spec";
import { z } from "zod";

/** Options that the schema of a plugin checks. */
export const pluginOptions: z.ZodType<JsonObject, JsonObject> = z.record(
  z.string(),
  z.json() as z.ZodType<JsonValue, JsonValue>,
);

/** Path that is relative to `base_directory`, until `resolveConfig` makes it absolute. */
export class RelativePath {
  readonly given: string;

  constructor(given: string) {
    this.given = given;
  }
}

/** Marks a text as a path: `z.string().transform(relativePath)`. */
export function relativePath(given: string): RelativePath {
  return new RelativePath(given);
}

/** Beginning of the names of models of the Hugging Face Hub. */
const HUB = "hub:";

/** Marks a text as the path of a model. The name of a model of the hub stays as it is. */
export function modelPath(given: string): RelativePath | string {
  return given.startsWith(HUB) ? given : relativePath(given);
}

/** Whether a model must be fetched or converted before an engine can read it. */
export function isFetched(model: string): boolean {
  return model.startsWith(HUB) || model.endsWith(".gguf");
}

/** Accepts a text in place of a section, as the value of one of its keys. */
export function textOr<S extends z.ZodType>(
  section: S,
  text: z.ZodType<string, string>,
  expand: (text: string) => z.input<S>,
): z.ZodUnion<[z.ZodType<z.output<S>, string>, S]> {
  return z.union([text.transform((given) => expand(given) as unknown).pipe(section), section]);
}
