// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.
import type { Decode } from "./decode.ts";
import type { Encode } from "./encode.ts";

/** Installs `structuredClone`, which encodes and decodes a value as between isolates. */
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
