import { type JsonValue, MrlmError } from "@mrlm/spec";

/** Strings, and the numbers that Python writes although JSON has none. */
const NOT_A_NUMBER = /"(?:\\.|[^"\\])*"|\bNaN\b|-?\bInfinity\b/g;

/**
 * Reads JSON of a server. Python writes NaN and Infinity as bare words: they become strings, so that a reader sees them instead of a broken message.
 * @throws BRIDGE_RESPONSE_INVALID
 */
export function readRemoteJson(text: string, what: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    try {
      return JSON.parse(text.replace(NOT_A_NUMBER, (found) => (found.startsWith('"') ? found : `"${found}"`))) as JsonValue;
    } catch (cause) {
      const begin = JSON.stringify(text.slice(0, 120));
      throw new MrlmError("BRIDGE_RESPONSE_INVALID", `${what} is not JSON. It begins with ${begin}.`, { cause });
    }
  }
}
