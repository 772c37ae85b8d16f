import type { JsonObject, JsonValue } from "@mrlm/spec";
import { BlockReader, CallFault, quote } from "../block-reader.ts";
import { readJson, spacedJson } from "../json-reader.ts";
import { checkName } from "../named-call.ts";
import { argumentTypes, typeOf } from "../../argument-types.ts";
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
    const tool = tools?.find((each) => each.name === name);
    const given = new Map<string, JsonValue>();
    for (;;) {
      reader.skipSpace();
      if (!reader.isNext(PARAMETER)) break;
      const [key, value] = readParameter(reader);
      if (given.has(key.name)) reader.fail(`The parameter ${quote(key.name)} occurs twice.`, key.at);
      given.set(key.name, tool === undefined ? value : convert(value, argumentTypes(tool.parameters, key.name)));
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
  // The template writes one line break on each side of the value. Where that is "\n", a "\r" before the last one belongs to the value.
  const [first = ""] = /^\r?\n/.exec(value as string) ?? [];
  return [key, (value as string).slice(first.length).replace(first.length === 1 ? /\n$/ : /\r?\n$/, "")];
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
function convert(text: string, types: ReadonlySet<string>): JsonValue {
  if ([...types].every((type) => type === "string")) return text;
  const value = parse(text.trim());
  // Text in quotation marks is a string with these marks: chat templates write strings without any.
  return value === undefined || typeof value === "string" || !types.has(typeOf(value)) ? text : value;
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
