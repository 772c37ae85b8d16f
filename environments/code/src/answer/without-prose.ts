import type { Language } from "../problem/problem.ts";

/** How a line at the margin begins that is code. Sentences begin with a word and a space. */
const CODE: Readonly<Record<Language, RegExp>> = {
  python:
    /^(?:(?:import|from|def|class|async|with|for|while|if|try|assert|return) .*[\w:)\]}'"]$|@|[\])}]|(?:try|else|finally|except.*):|[\p{L}_][\p{L}\p{N}_.]*(?:\(|\[|[ \t]*(?:[-+*/%&|^]|\/\/|\*\*)?=|[ \t]*:[^=\n]+=))/u,
  typescript:
    /^(?:(?:import|export|function|async|const|let|var|class|abstract|interface|type|enum|declare|namespace|if|for|while|switch|try|return|throw)\b.*[\w;:{}()[\],'"`>]$|[\])}]|\/\/|\/\*|[ ]\*|[\p{L}_$][\p{L}\p{N}_$.]*(?:\(|\[|[ \t]*(?:[-+*/%&|^?]{0,2})=))/u,
};

/** Code without the sentences before and behind it, where no block says where it begins and ends. */
export function withoutProse(text: string, language: Language): string {
  const lines = text.split("\n");
  const isCode = (line: string): boolean => CODE[language].test(line.trimEnd());
  const first = lines.findIndex(isCode);
  // What is indented belongs to the line of code above it.
  const last = lines.findLastIndex(
    (line, i) => i >= first && (isCode(line) || (/^[ \t]/.test(line) && line.trim() !== "")),
  );
  return first < 0 ? text : lines.slice(first, last + 1).join("\n");
}
