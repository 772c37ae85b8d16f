import { parseJson } from "@mrlm/spec";

/** Most keys of one object of a client. Checks of objects name each unknown key. */
const MAX_KEYS = 10_000;

/** Parses JSON of a client. Throws a SyntaxError as `parseJson` does, and for an object with more than 10,000 keys. */
export function parseClientJson(text: string): unknown {
  const value = parseJson(text);
  const nested: unknown[] = [value];
  while (nested.length > 0) {
    const each = nested.pop();
    if (typeof each !== "object" || each === null) continue;
    const values: unknown[] = Object.values(each);
    if (values.length > MAX_KEYS && !Array.isArray(each))
      throw new SyntaxError(`it has an object with more than ${MAX_KEYS} keys`);
    for (const inner of values) if (typeof inner === "object") nested.push(inner);
  }
  return value;
}
