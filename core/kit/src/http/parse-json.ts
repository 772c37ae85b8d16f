/** Limit of nested lists and objects. Recursive code would exhaust the stack after some thousand levels. */
const MAX_DEPTH = 1_000;

/** Parses JSON. Throws a SyntaxError for any other text, and for values that are nested too deeply. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new SyntaxError(`it is nested deeper than ${MAX_DEPTH} levels`);
    level = level.flatMap((each) => (typeof each === "object" && each !== null ? Object.values(each) : []));
  }
  return value;
}
