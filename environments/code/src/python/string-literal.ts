const OPENING = /([A-Za-z]{0,2})("""|'''|"|')/y;
const PREFIXES = new Set(["", "r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr", "rt"]);

/**
 * Returns the offset after the string literal that begins at an offset; `undefined` if none begins there. Fields of f-strings may contain
 * strings with the same quotes (PEP 701, Python 3.12).
 */
export function stringEnd(source: string, start: number): number | "unclosed" | undefined {
  OPENING.lastIndex = start;
  const opening = OPENING.exec(source);
  if (opening === null || !PREFIXES.has((opening[1] as string).toLowerCase())) return undefined;
  const [all, prefix, quote] = opening as unknown as [string, string, string];
  const isFormatted = /[ft]/i.test(prefix);
  for (let at = start + all.length; at < source.length;) {
    const character = source[at] as string;
    if (source.startsWith(quote, at)) return at + quote.length;
    if (character === "\\") at += 2;
    else if (character === "\n" && quote.length === 1) return "unclosed";
    else if (isFormatted && source.startsWith("{{", at)) at += 2;
    else if (isFormatted && character === "{") {
      const end = fieldEnd(source, at + 1);
      if (end === undefined) return "unclosed";
      at = end;
    } else at++;
  }
  return "unclosed";
}

/** Returns the offset after the `}` that closes a field. */
function fieldEnd(source: string, start: number): number | undefined {
  let depth = 1;
  for (let at = start; at < source.length;) {
    const end = stringEnd(source, at);
    if (end === "unclosed") return undefined;
    if (end !== undefined) {
      at = end;
      continue;
    }
    const character = source[at++] as string;
    if ("([{".includes(character)) depth++;
    else if (")]}".includes(character) && --depth === 0) return at;
  }
  return undefined;
}
