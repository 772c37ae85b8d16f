import type { Language } from "../problem/problem.ts";

/** Beginning of a line of code at the margin. Sentences begin with a word and a space. */
const CODE: Readonly<Record<Language, RegExp>> = {
  python:
    /^(?:(?:import|from|def|class|async|with|for|while|if|try|assert|return) .*[\w:)\]}'"]$|@|[\])}]|(?:try|else|finally|except.*):|[\p{L}_][\p{L}\p{N}_.]*(?:\(|\[|[ \t]*(?:[-+*/%&|^]|\/\/|\*\*)?=|[ \t]*:[^=\n]+=))/u,
  typescript:
    /^(?:(?:import|export|function|async|const|let|var|class|abstract|interface|type|enum|declare|namespace|if|for|while|switch|try|return|throw)\b.*[\w;:{}()[\],'"`>]$|[\])}]|\/\/|\/\*|[ ]\*|[\p{L}_$][\p{L}\p{N}_$.]*(?:\(|\[|[ \t]*(?:[-+*/%&|^?]{0,2})=))/u,
};

/** Removes sentences before and after code that is not in a block. */
export function withoutProse(text: string, language: Language): string {
  const lines = text.split("\n");
  const isCode = (line: string): boolean => CODE[language].test(line.trimEnd());
  const first = lines.findIndex(isCode);
  // Indented lines belong to the line of code above them.
  const last = lines.findLastIndex(
    (line, i) => i >= first && (isCode(line) || (/^[ \t]/.test(line) && line.trim() !== "")),
  );
  return first < 0 ? text : lines.slice(first, last + 1).join("\n");
}
