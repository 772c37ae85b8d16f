// Runs inside an isolate: the text of this function is what goes there, so it uses nothing of this module.
import type { Decode } from "./decode.ts";
import type { Encode } from "./encode.ts";

/** Puts `structuredClone` into the global object: a value goes the way of values between isolates and back. */
export function installClone(encode: Encode, decode: Decode): void {
  const { parse } = JSON;
  const structuredClone = (value: unknown): unknown => {
    try {
      return decode(parse(encode([value], undefined, [])), undefined, []).values[0];
    } catch (error) {
      const refused = new Error(`The value could not be cloned: ${error instanceof Error ? error.message : ""}`);
      throw Object.defineProperty(refused, "name", { value: "DataCloneError", configurable: true });
    }
  };
  Object.defineProperty(globalThis, "structuredClone", {
    value: structuredClone,
    configurable: true,
    enumerable: false,
    writable: true,
  });
}
