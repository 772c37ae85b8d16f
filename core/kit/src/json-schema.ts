import { type EnvironmentDefinition, type JsonObject, MrlmError } from "@mrlm/spec";
import { toJSONSchema, type z } from "zod";

/** Standard Schema, as zod and other libraries implement it. */
export type Schema<Output> = NonNullable<EnvironmentDefinition<Output>["options"]>;

/** Standard JSON Schema interface, which a Standard Schema may implement in addition. */
interface JsonSchemaSource {
  readonly jsonSchema?: {
    input(options: {
      readonly target: string;
      readonly libraryOptions: Readonly<Record<string, unknown>>;
    }): Record<string, unknown>;
  };
}

/** Returns the JSON Schema of the accepted input, before defaults; undefined if the library of the schema cannot express it. Throws what the library throws. */
export function jsonSchemaOf<Output>(
  schema: Schema<Output>,
  target: "draft-2020-12" | "draft-07",
): JsonObject | undefined {
  const { jsonSchema, vendor } = schema["~standard"] as Schema<Output>["~standard"] & JsonSchemaSource;
  // Option of zod: a part that JSON Schema cannot express accepts any value.
  const libraryOptions = { unrepresentable: "any" } as const;
  if (jsonSchema !== undefined) return jsonSchema.input({ target, libraryOptions }) as JsonObject;
  // Versions of zod 4 without the interface. Zod 3 has no JSON Schema.
  if (vendor === "zod" && "_zod" in schema)
    return toJSONSchema(schema as unknown as z.ZodType, { io: "input", target, ...libraryOptions }) as JsonObject;
  return undefined;
}

/** Returns the JSON Schema of the options of an environment. Throws PLUGIN_INVALID for a schema that has none. */
export function optionsJsonSchemaOf<Output>(environment: string, schema: Schema<Output>): JsonObject | undefined {
  try {
    return jsonSchemaOf(schema, "draft-2020-12");
  } catch (error) {
    throw new MrlmError(
      "PLUGIN_INVALID",
      `The options of environment ${environment} have no JSON Schema: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
        hint: "Set `optionsJsonSchema` of the definition, or describe the options by a schema that can be expressed as JSON Schema.",
      },
    );
  }
}
