import { AjvJsonSchemaValidator } from "@modelcontextprotocol/client/validators/ajv";
import type { JsonObject } from "@mrlm/kit";

/** Returns the fault of a value; `undefined` if it matches. */
type Check = (value: unknown) => string | undefined;

/** Schemas by their JSON text: each episode's server lists the same ones, and compiling costs more than a call. */
const interned = new Map<string, JsonObject>();
const compiled = new WeakMap<JsonObject, Check>();
const MAX_INTERNED = 10_000;

/** Returns one object for all equal schemas, by which hosts recognise a schema that they have compiled. */
export function internSchema(schema: JsonObject): JsonObject {
  const text = JSON.stringify(schema);
  const known = interned.get(text);
  if (known !== undefined) return known;
  if (interned.size >= MAX_INTERNED) interned.clear();
  interned.set(text, schema);
  return schema;
}

/** Returns the fault of a structured result under the tool's schema. A schema that cannot be compiled accepts all values. */
export function outputFault(schema: JsonObject, value: unknown): string | undefined {
  const check = compiled.get(schema) ?? compile(schema);
  compiled.set(schema, check);
  return check(value);
}

function compile(schema: JsonObject): Check {
  try {
    const validate = new AjvJsonSchemaValidator().getValidator(schema);
    return (value) => {
      const { valid, errorMessage } = validate(value);
      return valid ? undefined : errorMessage;
    };
  } catch {
    return () => undefined;
  }
}
