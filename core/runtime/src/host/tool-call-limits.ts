import { isObject, type JsonObject, type Logger, type ToolDefinition, type ToolResult } from "@mrlm/spec";
import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";

const LATEST_DRAFT = "https://json-schema.org/draft/2020-12/schema";

// `strict: false`: servers of tools use keywords of their own.
const options = { strict: false, allErrors: true, logger: false, validateFormats: false } as const;
/** Validators by schema. */
const compiled = new WeakMap<JsonObject, Validator>();
/** The same by name and content: tools that are made for each episode have equal schemas, whose compilation takes milliseconds. */
const byContent = new Map<string, Validator>();
const MAX_BY_CONTENT = 1_000;

interface Validator {
  /** `null`: the schema cannot be compiled or evaluated. */
  validate: ValidateFunction | null;
}

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
  const validator = compiled.get(parameters) ?? validatorOf(name, parameters, logger);
  const { validate } = validator;
  if (validate === null) return undefined;
  try {
    if (validate(args)) return undefined;
  } catch (error) {
    // A schema that refers to itself without a step into the value has no end.
    validator.validate = null;
    warn(name, error, logger);
    return undefined;
  }
  const faults = (validate.errors ?? []).map(({ instancePath, message, params }) => {
    const extra = (params as { readonly additionalProperty?: string }).additionalProperty;
    return `arguments${instancePath.replaceAll("/", ".")} ${message}${extra === undefined ? "" : ` ("${extra}")`}`;
  });
  return [...new Set(faults)].slice(0, 5).join("; ");
}

function validatorOf(name: string, parameters: JsonObject, logger: Logger): Validator {
  const key = JSON.stringify([name, parameters]);
  const validator = byContent.get(key) ?? { validate: compile(name, parameters, logger) };
  if (byContent.size >= MAX_BY_CONTENT) byContent.clear();
  byContent.set(key, validator);
  compiled.set(parameters, validator);
  return validator;
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

const DEFAULT_OUTPUT_BYTES = 65_536;
/** Limit of all images of a result. It protects the transport and is far above what a model can read. */
const IMAGE_BYTES = 4 * 1024 * 1024;
/** Limit of the parts of a result. */
const MAX_PARTS = 1_000;

/**
 * Cuts the text of a result to a limit of UTF-8 bytes, on a character boundary, and its images to 4 MiB together. The result states each cut. Text after a
 * cut is dropped.
 */
export function limitOutput(result: ToolResult, outputBytes = DEFAULT_OUTPUT_BYTES): ToolResult {
  const sizes = result.content.map((part) => (part.type === "text" ? Buffer.byteLength(part.text) : 0));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const content: ToolResult["content"][number][] = [];
  let [isCut, isTextCut, left, imagesLeft] = [false, false, outputBytes, IMAGE_BYTES];
  for (const [i, part] of result.content.entries()) {
    if (content.length === MAX_PARTS) {
      isCut = true;
      content.push({ type: "text", text: `[truncated: ${MAX_PARTS} of ${result.content.length} parts]` });
      break;
    }
    if (part.type === "image") {
      // A URL may hold the image itself (data:).
      const bytes = "data" in part.source ? part.source.data.byteLength : Buffer.byteLength(part.source.url);
      if (bytes <= imagesLeft) {
        imagesLeft -= bytes;
        content.push(part);
      } else {
        isCut = true;
        content.push({ type: "text", text: `[image of ${bytes} bytes left out: the limit is ${IMAGE_BYTES}]` });
      }
      continue;
    }
    if (isTextCut) continue;
    const size = sizes[i] as number;
    if (size <= left) {
      left -= size;
      content.push(part);
      continue;
    }
    [isCut, isTextCut] = [true, true];
    const kept = cut(part.text, left);
    const shown = outputBytes - left + Buffer.byteLength(kept);
    content.push({ type: "text", text: `${kept}\n[truncated: ${shown} of ${total} bytes]` });
  }
  return isCut ? { ...result, content, truncated: true } : result;
}

function cut(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  return bytes.subarray(0, boundary(bytes, limit)).toString();
}

/** Returns the largest length of at most `limit` that does not divide a character. */
function boundary(bytes: Uint8Array, limit: number): number {
  let end = limit;
  while (end > 0 && ((bytes[end] as number) & 0b1100_0000) === 0b1000_0000) end--;
  return end;
}
