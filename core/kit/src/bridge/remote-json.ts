import { type JsonValue, MrlmError } from "@mrlm/spec";

/** Numbers that may be above all doubles: JSON.parse reads them as Infinity. */
const MAYBE_TOO_LARGE = /\d{300}|[eE]\+?\d{3}/;
/** Strings, and the numbers that Python writes although JSON has none. */
const NOT_A_NUMBER = /"(?:\\.|[^"\\])*"|\bNaN\b|-?\bInfinity\b/g;

/**
 * Reads JSON of a server. Python writes NaN and Infinity as bare words: they become strings, like numbers above all doubles, so
 * that the message as a whole can be read.
 * @throws BRIDGE_RESPONSE_INVALID
 */
export function readRemoteJson(text: string, what: string): JsonValue {
  try {
    return parse(text);
  } catch {
    try {
      return parse(text.replace(NOT_A_NUMBER, (found) => (found.startsWith('"') ? found : `"${found}"`)));
    } catch (cause) {
      const begin = JSON.stringify(text.slice(0, 120));
      throw new MrlmError("BRIDGE_RESPONSE_INVALID", `${what} is not JSON. It begins with ${begin}.`, { cause });
    }
  }
}

function parse(text: string): JsonValue {
  if (!MAYBE_TOO_LARGE.test(text)) return JSON.parse(text) as JsonValue;
  return JSON.parse(text, (_name, value: JsonValue) =>
    typeof value === "number" && !Number.isFinite(value) ? String(value) : value,
  ) as JsonValue;
}
