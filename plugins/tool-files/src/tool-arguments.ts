import type { JsonObject } from "@mrlm/spec";
import { Ajv, type ErrorObject } from "ajv";

/**
 * Compiles the JSON Schema of a tool's arguments.
 * @returns a function that returns undefined for valid arguments, else a message for the policy
 */
export function compileArguments(schema: JsonObject): (args: JsonObject) => string | undefined {
  const validate = new Ajv({ strict: true }).compile(schema);
  return (args) => {
    if (validate(args)) return undefined;
    const [error] = validate.errors ?? [];
    return `Invalid arguments: ${error === undefined ? "" : describe(error)}. The schema is ${JSON.stringify(schema)}`;
  };
}

function describe({ instancePath, keyword, message, params }: ErrorObject): string {
  const place = instancePath === "" ? "the arguments" : instancePath.slice(1);
  const extra = keyword === "additionalProperties" ? ` (${String(params["additionalProperty"]).slice(0, 64)})` : "";
  const permitted = keyword === "enum" ? ` (${(params["allowedValues"] as unknown[]).join(", ")})` : "";
  return `${place} ${message ?? keyword}${extra}${permitted}`;
}
