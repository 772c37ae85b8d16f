import type { z } from "zod";

/**
 * Explains keys that a schema no longer has: `z.strictObject({...}, removedKeys({ old: "..." }))`. The error about an unknown key quotes the text, which states what
 * to do instead.
 */
export function removedKeys(texts: Readonly<Record<string, string>>): { readonly error: z.core.$ZodErrorMap } {
  return {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys
            .map((key) => (Object.hasOwn(texts, key) ? texts[key] : undefined))
            .find((text) => text !== undefined)
        : undefined,
  };
}
