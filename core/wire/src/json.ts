import type { JsonObject } from "@mrlm/spec";
import { invalid } from "./invalid.ts";

/** Encodes an object as JSON. The empty text stands for an omitted object. */
export function toJson(value: JsonObject | undefined): string {
  return value === undefined ? "" : JSON.stringify(value);
}

/** Limit of nested lists and objects. Recursive code would exhaust the stack after some thousand levels. */
const MAX_DEPTH = 1_000;

/** Parses a JSON object. Throws MESSAGE_INVALID for any other text. */
export function fromJson(text: string, name: string): JsonObject {
  let value: unknown;
  if (isDeeper(text, MAX_DEPTH)) throw invalid(`${name} are nested deeper than ${MAX_DEPTH} levels`);
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(`${name} must be JSON (${(error as Error).message})`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw invalid(`${name} must be a JSON object`);
  return value as JsonObject;
}

/** Parses a JSON object that may be omitted. */
export function fromOptionalJson(text: string, name: string): JsonObject | undefined {
  return text === "" ? undefined : fromJson(text, name);
}

/** Whether brackets outside of strings are nested deeper than `limit`. */
function isDeeper(text: string, limit: number): boolean {
  let depth = 0;
  let isString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (isString && character === "\\") i++;
    else if (character === '"') isString = !isString;
    else if (isString) continue;
    else if (character === "[" || character === "{") {
      if (++depth > limit) return true;
    } else if (character === "]" || character === "}") depth--;
  }
  return false;
}
