/** Whether a text holds every call of a function that stands in some code, whatever white space and quotes it uses. False where there is no call. */
export function holdsCalls(text: string, code: string, name: string): boolean {
  const shown = plain(text);
  const calls = callsOf(code, name);
  return calls.length > 0 && calls.every((call) => shown.includes(plain(`${name}${call}`)));
}

/** The arguments, in brackets, of each call of a function in an expression. */
function callsOf(code: string, name: string): string[] {
  return [...code.matchAll(new RegExp(`(?<![\\w.])${name}(?=\\()`, "gu"))].flatMap(({ index }) => {
    const start = index + name.length;
    const end = closing(code, start);
    return end === undefined ? [] : [code.slice(start, end)];
  });
}

/** Offset behind the bracket that closes the one at an offset; quotes are respected. */
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

/** Without white space, and with one kind of quotes: prompts and tests write the same call in several ways. */
function plain(text: string): string {
  return text.replaceAll(/\s/g, "").replaceAll("'", '"');
}
