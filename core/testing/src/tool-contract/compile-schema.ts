import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject } from "@mrlm/spec";

const LATEST_DRAFT = "https://json-schema.org/draft/2020-12/schema";

/** Compiles a JSON Schema in strict mode: an unknown keyword is an error. */
export function compileSchema(schema: JsonObject): ValidateFunction {
  const options = { strict: true, logger: false, validateFormats: false } as const;
  return (schema["$schema"] === LATEST_DRAFT ? new Ajv2020(options) : new Ajv(options)).compile(schema);
}
