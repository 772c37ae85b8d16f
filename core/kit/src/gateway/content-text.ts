import { z } from "zod";
import { unsupported } from "./parameters.ts";

/** Content of a message: a text, or its parts. */
export const contentSchema = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]);

/**
 * Returns the text of a content, of which all parts are joined. Throws ApiError with status 400 for a part that is no text.
 * @param types of parts that have a text
 */
export function contentText(
  given: z.output<typeof contentSchema> | null | undefined,
  place: string,
  types: readonly string[] = ["text"],
): string {
  if (typeof given === "string" || given === undefined || given === null) return given ?? "";
  return given
    .map(({ type, text, refusal }, i) => {
      const shown = type === "refusal" ? refusal : text;
      if (!types.includes(type) || typeof shown !== "string")
        throw unsupported(`${place}.${i}`, ` A part of type '${type}' is not text.`);
      return shown;
    })
    .join("");
}
