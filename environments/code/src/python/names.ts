import type { Statement } from "./statements.ts";
import type { Token } from "./token.ts";

const AUGMENTED = /^(?:[-+*/%&|^@]|\/\/|\*\*|>>|<<)=$/;

/** Returns all names in a statement, including attributes and the fields of f-strings. */
export function mentioned({ tokens }: Statement): Set<string> {
  return new Set(
    tokens.flatMap(({ kind, text }) =>
      kind === "name"
        ? [text]
        : kind === "string" && /^[rt]?f/i.test(text)
          ? (text.match(/[\p{L}_][\p{L}\p{N}_]*/gu) ?? [])
          : [],
    ),
  );
}

/** Returns the names that a statement may bind: by assignment, `for`, `with`, `import`, `def` and `class`. */
export function bound({ lines }: Statement): Set<string> {
  return new Set(lines.flatMap(({ tokens }) => [...boundOn(tokens)]));
}

function boundOn(tokens: readonly Token[]): Set<string> {
  const names = new Set<string>();
  for (const [i, { kind, text, depth }] of tokens.entries()) {
    const before = tokens[i - 1]?.text ?? "";
    const after = tokens[i + 1];
    if (kind === "name" && ["def", "class", "as", "import"].includes(before)) names.add(text);
    else if (kind === "name" && after?.text === ":=") names.add(text);
    else if (text === "=" && depth === 0) for (const name of targets(tokens, i - 1)) names.add(name);
    else if (AUGMENTED.test(text) || text === "in") for (const name of targets(tokens, i - 1)) names.add(name);
    else if (text === "," && lineHas(tokens, i, "import")) names.add(after?.text ?? "");
  }
  return names;
}

/** Returns the names of a target list that ends at a token: `a, (b, c)`, `value: int`. */
function targets(tokens: readonly Token[], end: number): string[] {
  const names: string[] = [];
  for (let i = end; i >= 0; i--) {
    const { kind, text } = tokens[i] as Token;
    const isPart =
      (kind === "name" &&
        !["for", "if", "elif", "while", "assert", "return", "and", "or", "not", "in", "is", "lambda"].includes(text)) ||
      [",", "(", ")", "[", "]", "*", ":", ".", "0"].includes(text);
    if (!isPart) break;
    if (kind === "name") names.push(text);
  }
  return names;
}

function lineHas(tokens: readonly Token[], at: number, word: string): boolean {
  return tokens.slice(0, at).some(({ text }) => text === word);
}
