/** Returns true if a text contains every call of a function in some code, with any white space and quotes. False without a call. */
export function holdsCalls(text: string, code: string, name: string): boolean {
  const shown = plain(text);
  const calls = callsOf(code, name);
  return calls.length > 0 && calls.every((call) => shown.includes(plain(`${name}${call}`)));
}

/** Returns the arguments, in brackets, of each call of a function in an expression. */
function callsOf(code: string, name: string): string[] {
  return [...code.matchAll(new RegExp(`(?<![\\w.])${name}(?=\\()`, "gu"))].flatMap(({ index }) => {
    const start = index + name.length;
    const end = closing(code, start);
    return end === undefined ? [] : [code.slice(start, end)];
  });
}

/** Returns the offset after the bracket that closes the one at an offset. Brackets in strings are ignored. */
export function closing(text: string, open: number): number | undefined {
  let depth = 0;
  let quote = "";
  for (let i = open; i < text.length; i++) {
    const character = text[i] as string;
    if (quote !== "") {
      if (character === "\\") i++;
      else if (character === quote) quote = "";
    } else if (character === "'" || character === '"') quote = character;
    else if ("([{".includes(character)) depth++;
    else if (")]}".includes(character) && --depth === 0) return i + 1;
  }
  return undefined;
}

/** Removes white space and unifies quotes, because prompts and tests write equal calls in several ways. */
function plain(text: string): string {
  return text.replaceAll(/\s/g, "").replaceAll("'", '"');
}
