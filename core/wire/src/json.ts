import { isObject, isTooDeep, type JsonObject, parseJson, TOO_DEEP } from "@mrlm/spec";
import { decodeJson, encodeJson } from "@mrlm/store/encoding";
import { invalid } from "./invalid.ts";

/** Encodes an object as JSON. The empty text stands for an omitted object. */
export function toJson(value: JsonObject | undefined): string {
  return value === undefined ? "" : JSON.stringify(value);
}

/** Parses a JSON object. Throws MESSAGE_INVALID for any other text. */
export function fromJson(text: string, name: string): JsonObject {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    throw invalid(`${name} must be JSON (${(error as Error).message})`);
  }
  if (!isObject(value)) throw invalid(`${name} must be a JSON object`);
  return value as JsonObject;
}

/** Parses a JSON object that may be omitted. */
export function fromOptionalJson(text: string, name: string): JsonObject | undefined {
  return text === "" ? undefined : fromJson(text, name);
}

/** Codec: any value as JSON text, in the encoding of the episode store. */
export const jsonCodec = {
  encode: encodeJson,

  /** Throws MESSAGE_INVALID for a text that is no JSON. */
  decode<T>(text: string): T {
    try {
      const value = decodeJson(text);
      if (isTooDeep(value)) throw new SyntaxError(TOO_DEEP);
      return value as T;
    } catch (error) {
      throw invalid(`a value must be JSON (${(error as Error).message})`);
    }
  },
};
