/** Value that JSON can represent. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { [key: string]: JsonValue };

export type JsonObject = { [key: string]: JsonValue };

/** Returns whether a value is an object and no array; `Array.isArray` does not exclude arrays of type `readonly JsonValue[]`. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
