import type { JsonObject } from "@mrlm/spec";
import { invalid } from "./invalid.ts";

/** JSON text; the empty text stands for an object that is left out. */
export function toJson(value: JsonObject | undefined): string {
  return value === undefined ? "" : JSON.stringify(value);
}

/** Levels of lists and objects within each other. Code that walks a value calls itself for each, and has no more stack than that of some thousands. */
const MAX_DEPTH = 1_000;

/** A JSON object from text that must hold one. */
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

/** The same where it may be left out. */
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
