import { isObject, type JsonObject, type JsonValue, type Message, parseJson, type ToolDefinition } from "@mrlm/spec";

/** Result of reading an answer: a message, or the fault of a call. */
export type TypedAnswer = { readonly message: Message } | { readonly fault: string };

/** Explains how answers are typed. */
export const TYPED_ANSWERS =
  '`/TOOL {"name": "value"}` calls a tool, `/TOOL text` one with a single argument; `//` begins an answer with a slash; `/quit` leaves.';

/**
 * Reads what a person typed: text, or `/TOOL ARGUMENTS` for the call of a tool. Arguments are a JSON object, or the bare value of the one argument that the tool has or requires.
 * @param id of the call
 */
export function typedAnswer(text: string, tools: readonly ToolDefinition[], id: string): TypedAnswer {
  if (!text.startsWith("/")) return { message: textAnswer(text) };
  if (text.startsWith("//")) return { message: textAnswer(text.slice(1)) };
  const [, name = "", given = ""] = /^\/(\S*)\s*([^]*)$/.exec(text) ?? [];
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined)
    return {
      fault: `there is no tool "${name}"${tools.length === 0 ? "" : `; there are ${tools.map((each) => each.name).join(", ")}`}.`,
    };
  const read = argumentsOf(given.trim(), tool);
  if ("fault" in read) return read;
  return { message: { role: "assistant", parts: [{ type: "tool-call", id, name, arguments: read.arguments }] } };
}

function textAnswer(text: string): Message {
  return { role: "assistant", parts: [{ type: "text", text }] };
}

function argumentsOf(
  given: string,
  { name, parameters }: ToolDefinition,
): { readonly arguments: JsonObject } | { readonly fault: string } {
  const value = given === "" ? {} : jsonOf(given);
  if (isObject(value)) return { arguments: value };
  const properties = Object.entries(isObject(parameters["properties"]) ? parameters["properties"] : {});
  const required = Array.isArray(parameters["required"]) ? parameters["required"] : [];
  const named = properties.length === 1 ? properties : properties.filter(([key]) => required.includes(key));
  const [only] = named;
  if (only === undefined || named.length > 1)
    return { fault: `the arguments of ${name} are a JSON object, such as ${example(properties)}.` };
  const [key, schema] = only;
  const isText = isObject(schema) && schema["type"] === "string";
  return { arguments: { [key]: isText || value === undefined ? given : value } };
}

/** Returns the value of a JSON text; `undefined` for other texts. */
function jsonOf(text: string): JsonValue | undefined {
  try {
    return parseJson(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function example(properties: readonly (readonly [string, unknown])[]): string {
  return JSON.stringify(Object.fromEntries(properties.map(([key]) => [key, "..."])));
}
