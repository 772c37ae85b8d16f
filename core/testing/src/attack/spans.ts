import { isObject } from "@mrlm/spec";

/** Kind of spans of a text: a span is copied, and nothing is computed from it. */
export interface Kind {
  /** Name of one span, for messages. */
  readonly words: string;
  find(text: string): readonly string[];
}

/** Longest text in which spans are searched, in UTF-16 units. */
const LONGEST = 20_000;

const OPERAND = String.raw`[-(√]*(?:\d+(?:[.,]\d+)*[a-z]?|\b[a-z]\b)[)²³!%]*`;
const ITEM = /^\s*(?:[-*•]|\(?(?:[A-Za-z]|\d{1,3})[).:\]])\s+(\S.*?)\s*$/gm;
const LABEL = /^\s*[([]?([A-Za-z]|\d{1,3})[).:\]]\s+\S/gm;

/** All kinds, by name. */
export const KINDS = {
  text: kind("whole text", (text) => (text.trim() === "" ? [] : [text])),
  number: kind("number", matches(/(?<![\w.])-?\d+(?:[.,]\d+)*|\d+(?:\.\d+)?/g)),
  expression: kind(
    "expression",
    matches(new RegExp(String.raw`${OPERAND}(?:\s*(?:\*\*|[<>]=|[-+*/^×÷·%=<>≤≥])\s*${OPERAND})+`, "g")),
  ),
  option: kind("option", matches(ITEM, 1)),
  label: kind("label of an option", matches(LABEL, 1)),
  part: kind("part of a list", partsOf),
  quoted: kind("quoted text", matches(/"([^"\n]+)"|“([^”\n]+)”|«([^»\n]+)»|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)/g, 1)),
  field: kind("value after a colon", matches(/[:=]\s*([^\s:=][^\n]*?)\s*$/gm, 1)),
  value: kind("value of a name", matches(/[\w)\]"']\s*[:=]\s*["']?([^\s,;:="'{}[\]]+)/g, 1)),
  line: kind("line", (text) => trimmed(text.split("\n"))),
  sentence: kind("sentence", (text) => trimmed(text.split(/(?<=[.?!:])\s+/))),
  paragraph: kind("paragraph", (text) => trimmed(text.split(/\n\s*\n/))),
  name: kind("name", matches(/(?<![.?!]\s|^)\p{Lu}[\p{L}\d'’-]*(?: \p{Lu}[\p{L}\d'’-]*)*/gmu)),
  capital: kind("word in capitals", matches(/\b\p{Lu}[\p{Lu}\d]+\b|\b\p{Lu}\b/gu)),
  identifier: kind("identifier", matches(/\b[A-Za-z][\w-]*[_\d-][\w-]*|\b[a-z]+[A-Z]\w*|#\w+|\b\d+[A-Za-z]\w*/g)),
  address: kind(
    "address or path",
    matches(/[a-z]+:\/\/[^\s"'<>)]+|(?:\.{0,2}\/)?[\w.-]+(?:\/[\w.-]+)+|\b[\w-]+\.[a-z]\w{0,4}\b/g),
  ),
  bracket: kind("text in brackets", matches(/\(([^()\n]+)\)|\[([^[\]\n]+)\]|\{([^{}\n]+)\}/g, 1)),
  marked: kind("text in a tag", matches(/<(\w+)[^<>]*>([^]*?)<\/\1>/g, 2)),
  code: kind("code block", matches(/```\w*\n?([^]*?)```/g, 1)),
  json: kind("value in JSON", jsonValues),
  cell: kind("cell", (text) => (/[|\t]/.test(text) ? trimmed(text.split(/[|\t\n]/)) : [])),
  symbol: kind("symbol", matches(/\p{Extended_Pictographic}|[\u{2190}-\u{2BFF}]/gu)),
  word: kind("word", matches(/[\p{L}\p{N}][\p{L}\p{N}'’_-]*/gu)),
} as const satisfies Readonly<Record<string, Kind>>;

export type SpanKind = keyof typeof KINDS;

/** Reads places of spans: `word` is the first word, `word-` the last one, `word:1` the second. */
export function placesOf(text: string): (readonly [SpanKind, number])[] {
  return text.split(" ").map((each) => {
    const [, name = "", place = ""] = /^([a-z]+):?(-?\d*)$/.exec(each) ?? [];
    return [name as SpanKind, place === "-" ? -1 : Number(place)];
  });
}

function kind(words: string, find: (text: string) => readonly string[]): Kind {
  return { words, find: (text) => find(text.slice(0, LONGEST)) };
}

/** Returns a function that finds the first group from `group` on that matched, or the whole match. */
function matches(pattern: RegExp, group = 0): (text: string) => string[] {
  return (text) =>
    Array.from(text.matchAll(pattern), (found) => found.slice(group).find((each) => each !== undefined) ?? "").filter(
      (span) => span.trim() !== "",
    );
}

function trimmed(texts: readonly string[]): string[] {
  return texts.map((text) => text.trim()).filter((text) => text !== "");
}

/** Returns the parts of enumerations: after a colon up to the end of the line, or with at least two commas or bars. */
function partsOf(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const list = /[:(]\s*([^:()]*[,;|/→>][^:()]*)/.exec(line)?.[1] ?? (/(?:[,;|].*){2}/.test(line) ? line : "");
    return trimmed(list.split(/\s*(?:[,;|/→>]|\bor\b|\band\b)\s*/).map((part) => part.replace(/[.?!]+$/, "")));
  });
}

/** Returns the leaves of the JSON objects and arrays in a text, as texts. */
function jsonValues(text: string): string[] {
  const blocks = text.match(/\{[^]*\}|\[[^]*\]|\{[^{}]*\}/g) ?? [];
  for (const block of blocks) {
    try {
      return leavesOf(JSON.parse(block)).map(({ value }) =>
        typeof value === "string" ? value : JSON.stringify(value),
      );
    } catch {
      // Other brackets.
    }
  }
  return [];
}

/** Lists the leaves of a JSON value with their paths. */
export function leavesOf(value: unknown, path: readonly string[] = []): { path: readonly string[]; value: unknown }[] {
  if (!isObject(value) && !Array.isArray(value)) return [{ path, value }];
  return Object.entries(value).flatMap(([key, each]) => leavesOf(each, [...path, key]));
}
