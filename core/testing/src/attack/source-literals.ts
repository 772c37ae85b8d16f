import { readSources } from "../check/source-places.ts";

/** Literals of a package's source. */
export interface Literals {
  /** Texts of strings, parts of templates, and alternatives of regular expressions; each once, in the order of the source. */
  readonly texts: readonly string[];
  /** Lists of texts: elements of arrays, and alternatives of a regular expression. */
  readonly lists: readonly (readonly string[])[];
}

/** Most literals of a kind: those of larger packages are of no answer. */
const MOST = 400;
const LONGEST = 2_000;

/** Reads the literals of a package's source. */
export function readLiterals(directory: string | undefined): Literals {
  const files = directory === undefined ? [] : readSources(directory);
  const all = files.map(({ lines }) => literalsOf(lines.join("\n")));
  return {
    texts: [...new Set(all.flatMap(({ texts }) => texts))].slice(0, MOST),
    lists: all.flatMap(({ lists }) => lists).slice(0, MOST),
  };
}

/** One token of JavaScript or TypeScript. Whether `/` begins a regular expression follows from what stands before it. */
const TOKEN =
  /\/\/[^\n]*|\/\*[^]*?\*\/|"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\[^])*)`|(?<![\w$)\]]\s*)\/((?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/[a-z]*|[[\]]/g;

/** Reads the literals of one source file. */
export function literalsOf(source: string): Literals {
  const texts: string[] = [];
  const lists: string[][] = [];
  const open: string[][] = [];
  const add = (text: string): void => {
    if (text.trim() === "" || text.length > LONGEST || /^\.{1,2}\/|^node:|^@mrlm\//.test(text)) return;
    texts.push(text);
    open.at(-1)?.push(text);
  };
  for (const [token, double, single, template, pattern] of source.matchAll(TOKEN)) {
    const string = double ?? single;
    if (string !== undefined) add(unescaped(string));
    else if (template !== undefined) for (const part of template.split(/\$\{[^{}]*\}/)) add(unescaped(part));
    else if (pattern !== undefined) {
      const alternatives = alternativesOf(pattern);
      if (alternatives.length > 1) lists.push(alternatives);
      texts.push(...alternatives);
    } else if (token === "[") open.push([]);
    else if (token === "]") {
      const closed = open.pop();
      if (closed !== undefined && closed.length > 1) lists.push(closed);
    }
  }
  return { texts, lists };
}

/** Returns the words of a regular expression that stand between bars. */
function alternativesOf(pattern: string): string[] {
  return pattern
    .split(/[|()]|\\b|\[[^\]]*\][+*?]?|\\[sSwWdD][+*?]?|[\^$]/)
    .map((part) =>
      part
        .replace(/^\?[:=!<]*/, "")
        .replaceAll(/\\(.)/g, "$1")
        .replaceAll(/[?*+]$/g, ""),
    )
    .filter((part) => /[\p{L}\p{N}]/u.test(part));
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(?:u\{([\dA-Fa-f]+)\}|u([\dA-Fa-f]{4})|x([\dA-Fa-f]{2})|([^]))/g, (_, ...found) => {
    const [braced, four, two, one] = found as (string | undefined)[];
    const code = braced ?? four ?? two;
    if (code !== undefined) return String.fromCodePoint(Math.min(0x10ffff, Number.parseInt(code, 16)));
    return { n: "\n", t: "\t", r: "\r", "0": "\0", "\n": "" }[one ?? ""] ?? one ?? "";
  });
}
