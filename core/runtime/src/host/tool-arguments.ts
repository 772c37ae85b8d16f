import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { isObject, type JsonObject, type Logger, type ToolDefinition } from "@mrlm/spec";

const LATEST_DRAFT = "https://json-schema.org/draft/2020-12/schema";

// `strict: false`: servers of tools use keywords of their own.
const options = { strict: false, allErrors: true, logger: false, validateFormats: false } as const;
const compiled = new WeakMap<JsonObject, ValidateFunction | null>();

/**
 * Returns the faults of a call's arguments under the schema of the tool; `undefined` if they have none. A schema that cannot be compiled or
 * evaluated accepts all arguments, and a warning names its tool once.
 */
export function argumentFaults(
  { name, parameters }: ToolDefinition,
  args: unknown,
  logger: Logger,
): string | undefined {
  if (!isObject(args)) return "the arguments are not a JSON object";
  if (!compiled.has(parameters)) compiled.set(parameters, compile(name, parameters, logger));
  const validate = compiled.get(parameters);
  if (validate === null || validate === undefined) return undefined;
  try {
    if (validate(args)) return undefined;
  } catch (error) {
    // A schema that refers to itself without a step into the value has no end.
    compiled.set(parameters, null);
    warn(name, error, logger);
    return undefined;
  }
  const faults = (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const extra = (params as { readonly additionalProperty?: string }).additionalProperty;
    return `arguments${instancePath.replaceAll("/", ".")} ${message}${extra === undefined ? "" : ` ("${extra}")`}`;
  });
  return [...new Set(faults)].slice(0, 5).join("; ");
}

function compile(name: string, parameters: JsonObject, logger: Logger): ValidateFunction | null {
  try {
    // An instance for each schema: two schemas may have the same `$id`.
    const ajv = parameters["$schema"] === LATEST_DRAFT ? new Ajv2020(options) : new Ajv(options);
    const validate = ajv.compile(parameters);
    // Its result would be a promise, which is true for invalid arguments and rejects without a handler.
    if ("$async" in validate) throw new TypeError("an asynchronous schema ($async)");
    return validate;
  } catch (error) {
    warn(name, error, logger);
    return null;
  }
}

function warn(name: string, error: unknown, logger: Logger): void {
  logger.warn(`The JSON Schema of the arguments of tool ${name} is invalid; they are not validated.`, {
    error: String(error),
  });
}
