import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject } from "@mrlm/spec";

/** Compilers by the draft that `$schema` states, without its protocol and its fragment. */
const DRAFTS = {
  "json-schema.org/draft-07/schema": Ajv,
  "json-schema.org/draft/2019-09/schema": Ajv2019,
  "json-schema.org/draft/2020-12/schema": Ajv2020,
} as const;

/** Rules for the parameters of tools. Models and their servers read draft 7 where none is stated. */
export const PARAMETERS = { strict: true, draft: "json-schema.org/draft-07/schema" } as const;
/** Rules for the options of environments, to which authors may add keywords. */
export const OPTIONS = { strict: false, draft: "json-schema.org/draft/2020-12/schema" } as const;

/**
 * Compiles a JSON Schema by the rules of its draft. Throws for a schema that is invalid, and for one of another draft.
 * @param strict whether an unknown keyword is an error
 * @param draft of a schema without `$schema`
 */
export function compileSchema(
  schema: JsonObject,
  { strict, draft }: { readonly strict: boolean; readonly draft: keyof typeof DRAFTS },
): ValidateFunction {
  const stated = String(schema["$schema"] ?? draft)
    .replace(/^https?:\/\//, "")
    .replace(/#$/, "");
  const Compiler = Object.hasOwn(DRAFTS, stated) ? DRAFTS[stated as keyof typeof DRAFTS] : undefined;
  if (Compiler === undefined)
    throw new Error(
      `The JSON Schema is of ${stated}, and only those of ${Object.keys(DRAFTS).join(", ")} are checked.`,
    );
  const { $schema: _, ...rules } = schema;
  return new Compiler({ strict, logger: false, validateFormats: false }).compile(rules);
}
