import type { JsonObject, JsonValue, ToolDefinition } from "@mrlm/spec";
import { BlockReader, CallFault, quote } from "../block-reader.ts";
import { readJson, spacedJson } from "../json-reader.ts";
import { checkName } from "../named-call.ts";
import type { ToolFormat, WrittenCall } from "./format.ts";

const [BEGIN, END] = ["<tool_call>", "</tool_call>"];
const [FUNCTION, FUNCTION_END] = ["<function=", "</function>"];
const [PARAMETER, PARAMETER_END] = ["<parameter=", "</parameter>"];

/**
 * Qwen3-Coder, Qwen3.5 and Nemotron 3: each argument in an XML element. Values have no quotes, so the schema of the tool decides their types: text without a
 * schema, or that does not fit it, stays a string.
 */
export const qwenCoder: ToolFormat = {
  openings: [
    { marker: BEGIN, end: END },
    { marker: FUNCTION, end: FUNCTION_END, fault: `The call begins without ${quote(BEGIN)}.` },
  ],
  inner: [END, FUNCTION_END, PARAMETER, PARAMETER_END],
  read: (reader, tools) => {
    reader.expect(BEGIN, "at the start of the call");
    reader.skipSpace();
    reader.expect(FUNCTION, "at the start of the function");
    const { name } = readAttribute(reader, "function");
    const types = parameterTypes(tools?.find((tool) => tool.name === name));
    const given = new Map<string, JsonValue>();
    for (;;) {
      reader.skipSpace();
      if (!reader.isNext(PARAMETER)) break;
      const [key, value] = readParameter(reader);
      if (given.has(key.name)) reader.fail(`The parameter ${quote(key.name)} occurs twice.`, key.at);
      given.set(key.name, convert(value, types.get(key.name)));
    }
    reader.expect(FUNCTION_END, `or ${quote(PARAMETER)}`);
    reader.skipSpace();
    reader.expect(END, "after the function");
    return [{ name, arguments: Object.fromEntries(given) }];
  },
  write: (calls) => calls.map(writeCall).join("\n"),
  templateArguments: (given) => Object.fromEntries(Object.entries(given).map(([key, value]) => [key, shown(value)])),
};

/** Reads a name up to ">". */
function readAttribute(reader: BlockReader, what: string): { readonly name: string; readonly at: number } {
  const at = reader.at;
  const name = reader.take(/[^>\n]*/y) as string;
  reader.expect(">", `after the name of the ${what}`);
  return { name: checkName(reader, name, at, what === "function" ? "tool" : what), at };
}

function readParameter(reader: BlockReader): [{ readonly name: string; readonly at: number }, string] {
  reader.expect(PARAMETER, "at the start of a parameter");
  const key = readAttribute(reader, "parameter");
  const at = reader.at;
  const value = reader.takeBefore(PARAMETER_END, PARAMETER, FUNCTION_END);
  if (!reader.skip(PARAMETER_END))
    reader.fail(
      `The parameter ${quote(key.name)} has no ${quote(PARAMETER_END)}.`,
      value === undefined ? at : reader.at,
    );
  // The template writes one line break on each side of the value.
  return [key, (value as string).replace(/^\r?\n/, "").replace(/\r?\n$/, "")];
}

/** Returns the JSON types of the parameters of a tool. */
function parameterTypes(tool: ToolDefinition | undefined): ReadonlyMap<string, ReadonlySet<string>> {
  const properties = tool?.parameters["properties"];
  if (typeof properties !== "object" || properties === null || Array.isArray(properties)) return new Map();
  return new Map(Object.entries(properties).map(([key, schema]) => [key, typesOf(schema)]));
}

/** Returns the types that a JSON schema names, also in `anyOf`, `oneOf` and `enum`. */
function typesOf(schema: JsonValue): ReadonlySet<string> {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return new Set();
  const { type, anyOf, oneOf, enum: values, const: only } = schema;
  const named = [type ?? []].flat().filter((name) => typeof name === "string");
  const alternatives = [anyOf ?? [], oneOf ?? []].flat().flatMap((other) => [...typesOf(other as JsonValue)]);
  const listed = [values ?? [], only === undefined ? [] : [only]].flat().map((value) => typeOf(value as JsonValue));
  return new Set([...named, ...(named.length === 0 ? [...alternatives, ...listed] : [])]);
}

function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Literals of JSON and of Python, which chat templates write. */
const LITERALS: ReadonlyMap<string, JsonValue> = new Map([
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ["null", null],
  ["None", null],
]);

/** Returns the value of a type that the schema names, else the text itself. */
function convert(text: string, types: ReadonlySet<string> = new Set()): JsonValue {
  if ([...types].every((type) => type === "string")) return text;
  const value = parse(text.trim());
  if (value === undefined) return text;
  const type = typeOf(value);
  const fits = types.has(type) || (type === "number" && types.has("integer") && Number.isInteger(value));
  return fits ? value : text;
}

function parse(text: string): JsonValue | undefined {
  if (LITERALS.has(text)) return LITERALS.get(text);
  const reader = new BlockReader(text, new Set(), new Set());
  try {
    const value = readJson(reader, 1);
    return reader.isAtEnd ? value : undefined;
  } catch (cause) {
    if (cause instanceof CallFault) return undefined;
    throw cause;
  }
}

/** Returns a value as the chat template writes it in Python: `True` for true. */
function shown(value: JsonValue): string {
  if (typeof value === "string") return value;
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  return spacedJson(value);
}

function writeCall(call: WrittenCall): string {
  const parameters = Object.entries(call.arguments as JsonObject).map(
    ([key, value]) => `${PARAMETER}${key}>\n${shown(value)}\n${PARAMETER_END}\n`,
  );
  return `${BEGIN}\n${FUNCTION}${call.name}>\n${parameters.join("")}${FUNCTION_END}\n${END}`;
}
