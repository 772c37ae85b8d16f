import type { MrlmError } from "@mrlm/spec";
import { contentFault, type CredentialFile } from "./credential-file.ts";
import type { NamedToken } from "./tokens.ts";

/** Short enough to exclude a token of `openssl rand -hex 32` in the place of the name. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$/;
const TOKEN = /^[\x21-\x7e]+$/;
const MAX_TOKEN = 4_096;

/**
 * Reads the content of a token file: one token, or one `NAME TOKEN` in each line. Errors name lines, never a token.
 * @throws CONFIG_INVALID for any other content, and for a name or a token that stands twice
 */
export function readTokens(text: string, file: CredentialFile): readonly [NamedToken, ...NamedToken[]] {
  const lines = text
    .split(/\r?\n/)
    .map((line, i) => ({ at: i + 1, words: line.trim().split(/\s+/) }))
    .filter(({ words }) => words[0] !== "");
  const [first] = lines;
  const tokens =
    lines.length === 1 && first?.words.length === 1
      ? [{ at: first.at, name: undefined, token: checkedToken(file, first.at, first.words[0]) }]
      : lines.map(({ at, words }) => {
          if (words.length !== 2) {
            const content = words.length === 1 ? "a token without a name" : `${words.length} words`;
            throw lineFault(file, at, `holds ${content}`);
          }
          if (!NAME.test(words[0] as string)) throw lineFault(file, at, "does not begin with a name");
          return { at, name: words[0], token: checkedToken(file, at, words[1]) };
        });
  for (const property of ["name", "token"] as const) {
    const lineOf = new Map<string | undefined, number>();
    for (const { at, [property]: value } of tokens) {
      const other = lineOf.get(value);
      if (other !== undefined) throw lineFault(file, at, `has the same ${property} as line ${other}`);
      lineOf.set(value, at);
    }
  }
  return tokens.map(({ name, token }) => ({ name, token })) as [NamedToken, ...NamedToken[]];
}

function checkedToken(file: CredentialFile, at: number, token = ""): string {
  if (!TOKEN.test(token)) throw lineFault(file, at, "holds characters that a token may not have");
  if (token.length > MAX_TOKEN) throw lineFault(file, at, `holds a token of more than ${MAX_TOKEN} characters`);
  return token;
}

function lineFault(file: CredentialFile, line: number, fault: string): MrlmError {
  return contentFault(
    file,
    `does not hold a token: line ${line} ${fault}`,
    "Write one token (openssl rand -hex 32 > FILE), or NAME TOKEN in each line; names are different and have at most 32 letters, digits, dots, dashes and underscores, tokens are printable ASCII without spaces.",
  );
}
