import type { JsonObject } from "@mrlm/spec";

/** Returns a value as JSON has it: without members that are undefined. */
export function plainJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}
