import { type EnvironmentDefinition, type JsonObject, MrlmError } from "@mrlm/spec";
import { toJSONSchema, type z } from "zod";

type Schema = NonNullable<EnvironmentDefinition["options"]>;

/** Standard JSON Schema interface, which a Standard Schema may implement in addition. */
interface JsonSchemaSource {
  readonly jsonSchema?: {
    input(options: {
      readonly target: string;
      readonly libraryOptions: Readonly<Record<string, unknown>>;
    }): Record<string, unknown>;
  };
}

/** Returns the JSON Schema of the accepted options, before defaults; undefined if the library of the schema cannot express it. */
export function optionsJsonSchemaOf(environment: string, schema: Schema): JsonObject | undefined {
  const { jsonSchema, vendor } = schema["~standard"] as Schema["~standard"] & JsonSchemaSource;
  // Option of zod: a part that JSON Schema cannot express accepts any value.
  const libraryOptions = { unrepresentable: "any" } as const;
  try {
    if (jsonSchema !== undefined) return jsonSchema.input({ target: "draft-2020-12", libraryOptions }) as JsonObject;
    // Versions of zod 4 without the interface. Zod 3 has no JSON Schema.
    if (vendor === "zod" && "_zod" in schema)
      return toJSONSchema(schema as unknown as z.ZodType, { io: "input", ...libraryOptions }) as unknown as JsonObject;
    return undefined;
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
