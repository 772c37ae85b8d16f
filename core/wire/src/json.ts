import type { JsonObject } from "@mrlm/spec";
import { invalid } from "./invalid.ts";

/** JSON text; the empty text stands for an object that is left out. */
export function toJson(value: JsonObject | undefined): string {
  return value === undefined ? "" : JSON.stringify(value);
}

/** A JSON object from text that must hold one. */
export function fromJson(text: string, name: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(`${name} must be JSON (${(error as Error).message})`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(`${name} must be a JSON object`);
  return value as JsonObject;
}

/** The same where it may be left out. */
export function fromOptionalJson(text: string, name: string): JsonObject | undefined {
  return text === "" ? undefined : fromJson(text, name);
}
