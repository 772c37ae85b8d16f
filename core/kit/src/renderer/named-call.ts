import { defined, type JsonObject } from "@mrlm/spec";
import { type BlockReader, quote } from "./block-reader.ts";
import { readJson, readJsonObject, readMembers, spacedJson } from "./json-reader.ts";
import type { WrittenCall } from "./formats/format.ts";

/** Keys of the arguments of a call. Qwen and Mistral write the first, Llama the second. */
type ArgumentsKey = "arguments" | "parameters";

/** Reads a call that is a JSON object: `{"name": ..., "arguments": {...}}`. `parameters` is the same as `arguments`; `type` and `id` are optional. */
export function readNamedCall(reader: BlockReader): WrittenCall {
  reader.skipSpace();
  const begin = reader.at;
  if (!reader.isNext("{")) reader.expected("a call as a JSON object");
  const call: { name?: string; id?: string; arguments?: JsonObject } = {};
  readMembers(reader, 0, (key, keyAt) => {
    reader.skipSpace();
    const at = reader.at;
    if (key === "arguments" || key === "parameters") {
      if (call.arguments !== undefined) reader.fail("A call has both arguments and parameters.", keyAt);
      call.arguments = readArguments(reader, key);
    } else if (key === "name" || key === "id" || key === "type") {
      const value = readJson(reader, 1);
      if (typeof value !== "string") reader.fail(`${quote(key)} is ${kindOf(value)}, not a string.`, at);
      if (key === "type" && value !== "function") reader.fail(`The type ${quote(value)} is not "function".`, at);
      if (key !== "type") call[key] = key === "name" ? checkName(reader, value, at) : value;
    } else reader.fail(`A call has no key ${quote(key)}.`, keyAt);
  });
  const { name, arguments: given } = call;
  if (name === undefined) reader.fail("The call has no name.", begin);
  if (given === undefined) reader.fail(`The call of ${quote(name)} has no arguments.`, begin);
  return { name, arguments: given, ...defined({ id: call.id }) };
}

export function readArguments(reader: BlockReader, name: string): JsonObject {
  reader.skipSpace();
  const at = reader.at;
  if (reader.isNext("{")) return readJsonObject(reader, 1);
  if (reader.isAtEnd) reader.expected("arguments as a JSON object");
  const value = readJson(reader, 1);
  return reader.fail(`${quote(name)} has ${kindOf(value)} instead of a JSON object.`, at);
}

/** Returns the name of a tool. Fails for an empty name, and for white space, which no name of a tool has. */
export function checkName(reader: BlockReader, name: string, at: number, what = "tool"): string {
  if (name === "") reader.fail(`The name of the ${what} is empty.`, at);
  if (/\s/.test(name)) reader.fail(`The name ${quote(name)} of a ${what} has white space.`, at);
  reader.rejectTokens(at, at + name.length, `the name of a ${what}`);
  return name;
}

/** Writes a call as a JSON object. */
export function writeNamedCall(call: WrittenCall, key: ArgumentsKey): string {
  return `{"name": ${JSON.stringify(call.name)}, "${key}": ${spacedJson(call.arguments)}}`;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return { string: "a string", number: "a number", boolean: "a boolean" }[typeof value as string] ?? "an object";
}
