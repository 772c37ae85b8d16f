/** Limit of nested lists and objects. Recursive code would exhaust the stack after some thousand levels. */
const MAX_DEPTH = 1_000;

/** Parses JSON of another party. Throws a SyntaxError for any other text, and for values that are nested too deeply. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isTooDeep(value)) throw new SyntaxError(TOO_DEEP);
  return value;
}

/**
 * Parses JSON that a model wrote and that is acted on or graded. Throws a SyntaxError as {@link parseJson} does, and for an object with one key twice:
 * readers differ in which value counts.
 */
export function parseStrictJson(text: string): unknown {
  const value = parseJson(text);
  const key = doubledKey(text);
  if (key !== undefined) throw new SyntaxError(`the key ${JSON.stringify(key.slice(0, 100))} occurs twice`);
  return value;
}

/** Fault of a value that {@link isTooDeep}, as a clause. */
export const TOO_DEEP = `it is nested deeper than ${MAX_DEPTH} levels`;

/** Whether lists and objects of a value of JSON are nested deeper than 1,000 levels. Does not recurse. */
export function isTooDeep(value: unknown): boolean {
  let level: object[] = isNested(value) ? [value] : [];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= MAX_DEPTH) return true;
    const next: object[] = [];
    for (const outer of level)
      for (const inner of Object.values(outer) as unknown[]) if (isNested(inner)) next.push(inner);
    level = next;
  }
  return false;
}

function isNested(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Returns a key that an object of a JSON text has twice; `undefined` if there is none. */
function doubledKey(json: string): string | undefined {
  const keys: Set<string>[] = [];
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === "{" || character === "[") keys.push(new Set());
    else if (character === "}" || character === "]") keys.pop();
    else if (character === '"') {
      const begin = at++;
      while (json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
      if (!isBeforeColon(json, at + 1)) continue;
      const key = JSON.parse(json.slice(begin, at + 1)) as string;
      if (keys.at(-1)?.has(key) === true) return key;
      keys.at(-1)?.add(key);
    }
  }
  return undefined;
}

function isBeforeColon(json: string, at: number): boolean {
  let next = at;
  while (json[next] === " " || json[next] === "\n" || json[next] === "\r" || json[next] === "\t") next++;
  return json[next] === ":";
}
