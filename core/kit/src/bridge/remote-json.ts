import { isTooDeep, type JsonValue, MrlmError, TOO_DEEP } from "@mrlm/spec";

/** Numbers that may be above all doubles: JSON.parse reads them as Infinity. */
const MAYBE_TOO_LARGE = /\d{300}|[eE]\+?\d{3}/;
/** The numbers that Python writes although JSON has none. */
const NOT_A_NUMBER = /\bNaN\b|-?\bInfinity\b/g;

/**
 * Reads JSON of a server. Python writes NaN and Infinity as bare words: they become strings, like numbers above all doubles, so
 * that the message as a whole can be read.
 * @throws BRIDGE_RESPONSE_INVALID
 */
export function readRemoteJson(text: string, what: string): JsonValue {
  const value = readNumbers(text, what);
  if (isTooDeep(value)) throw new MrlmError("BRIDGE_RESPONSE_INVALID", `${what} is refused: ${TOO_DEEP}.`);
  return MAYBE_TOO_LARGE.test(text) ? withFiniteNumbers(value) : value;
}

function readNumbers(text: string, what: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    try {
      return JSON.parse(withQuotedNumbers(text)) as JsonValue;
    } catch (cause) {
      const begin = JSON.stringify(text.slice(0, 120));
      throw new MrlmError("BRIDGE_RESPONSE_INVALID", `${what} is not JSON. It begins with ${begin}.`, { cause });
    }
  }
}

/** Puts bare words for numbers into quotes, outside of strings. Its time is linear in the length, whatever the text: a server may be hostile. */
function withQuotedNumbers(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    const begin = indexOr(text, '"', at);
    parts.push(text.slice(at, begin).replace(NOT_A_NUMBER, '"$&"'));
    let end = indexOr(text, '"', begin + 1);
    while (end < text.length && isEscaped(text, end)) end = indexOr(text, '"', end + 1);
    parts.push(text.slice(begin, end + 1));
    at = end + 1;
  }
  return parts.join("");
}

function indexOr(text: string, searched: string, from: number): number {
  const found = text.indexOf(searched, from);
  return found < 0 ? text.length : found;
}

/** Whether an odd number of backslashes is before a place. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === "\\") first--;
  return (at - first) % 2 === 1;
}

/** Writes infinite numbers as strings. */
function withFiniteNumbers(value: JsonValue): JsonValue {
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withFiniteNumbers);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withFiniteNumbers(member)]));
}
