import { type EnvironmentDefinition, type JsonObject, MrlmError } from "@mrlm/spec";
import { toJSONSchema, type z } from "zod";

type Schema = NonNullable<EnvironmentDefinition["options"]>;

/** The Standard JSON Schema interface, which a Standard Schema may have besides. */
interface JsonSchemaSource {
  readonly jsonSchema?: {
    input(options: {
      readonly target: string;
      readonly libraryOptions: Readonly<Record<string, unknown>>;
    }): Record<string, unknown>;
  };
}

/** The JSON Schema of the options that a schema accepts, before defaults; undefined for a schema of a library that cannot state it. */
export function optionsJsonSchemaOf(environment: string, schema: Schema): JsonObject | undefined {
  const { jsonSchema, vendor } = schema["~standard"] as Schema["~standard"] & JsonSchemaSource;
  // An option of zod: a part that JSON Schema has no form for accepts anything.
  const libraryOptions = { unrepresentable: "any" } as const;
  try {
    if (jsonSchema !== undefined) return jsonSchema.input({ target: "draft-2020-12", libraryOptions }) as JsonObject;
    // Zod 4 before it had the interface. Zod 3 has no JSON Schema.
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
