import { parseJson } from "@mrlm/spec";

/** Levels of a value, which stands some levels below an observation, where 1,000 are allowed. */
const MAX_DEPTH = 900;
/** Most keys of one object of a client. Checks of objects name each unknown key. */
const MAX_KEYS = 10_000;

/**
 * Parses JSON of a client. Throws a SyntaxError as `parseJson` does, for an object with more than 10,000 keys, which is slow to make and to read, and for what
 * {@link assertSendable} refuses.
 */
export function parseClientJson(text: string): unknown {
  if (hasManyKeys(text)) throw new SyntaxError(`it has an object with more than ${MAX_KEYS} keys`);
  const value = parseJson(text);
  assertSendable(value);
  return value;
}

/** Throws a SyntaxError for a value that cannot be a part of an observation: with a number that is not finite, or nested deeper than 900 levels. Does not recurse. */
export function assertSendable(value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) throw new SyntaxError(`it is nested deeper than ${MAX_DEPTH} levels`);
    const infinite = level.find((each) => typeof each === "number" && !Number.isFinite(each));
    if (infinite !== undefined) throw new SyntaxError("it has a number that is too large");
    level = level.flatMap((each) =>
      typeof each === "object" && each !== null ? (Object.values(each) as unknown[]) : [],
    );
  }
}

/** Whether an object of a JSON text has too many keys. The text may be malformed. */
function hasManyKeys(text: string): boolean {
  if ((text.match(/:/g)?.length ?? 0) <= MAX_KEYS) return false;
  /** Numbers of keys of the lists and objects around a character. */
  const keys: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === "{" || character === "[") keys.push(0);
    else if (character === "}" || character === "]") keys.pop();
    else if (character === ":") {
      const count = (keys.pop() ?? 0) + 1;
      if (count > MAX_KEYS) return true;
      keys.push(count);
    }
  }
  return false;
}

/** Returns the position of the quote that ends a string, or of the end of the text. */
function endOfString(text: string, begin: number): number {
  for (let at = begin + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at === -1) return text.length;
    let before = at - 1;
    while (text[before] === "\\") before--;
    if ((at - before) % 2 === 1) return at;
  }
}
