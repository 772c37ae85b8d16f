import type { JsonObject, JsonValue } from "@mrlm/spec";
import { type BlockReader, quote } from "./block-reader.ts";

/** Greatest nesting of values in the arguments of a call. Deeper values would exceed the stack of code that walks them. */
export const MAX_DEPTH = 64;

const PLAIN = /[^"\\\u0000-\u001F]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const HEX = /[0-9A-Fa-f]{4}/y;

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

const LITERALS: ReadonlyMap<string, JsonValue> = new Map([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** Names of other languages for the literals. */
const CORRECTIONS: ReadonlyMap<string, string> = new Map([
  ["True", "true"],
  ["False", "false"],
  ["None", "null"],
  ["undefined", "null"],
]);

/**
 * Reads a JSON value by RFC 8259, strictly: no key occurs twice, an integer is exact as a 64-bit float and surrogates occur in pairs. Fails with a
 * message that names the fault, which `JSON.parse` does not always do.
 */
export function readJson(reader: BlockReader, depth = 0): JsonValue {
  reader.skipSpace();
  const next = reader.text[reader.at];
  if (next === "{") return readJsonObject(reader, depth);
  if (next === "[") return readArray(reader, depth);
  if (next === '"') return readString(reader);
  if (next === "-" || isDigit(next)) return readNumber(reader);
  return readWord(reader);
}

export function readJsonObject(reader: BlockReader, depth = 0): JsonObject {
  const members: [string, JsonValue][] = [];
  readMembers(reader, depth, (key) => members.push([key, readJson(reader, depth + 1)]));
  // Unlike an assignment, this makes "__proto__" an ordinary key.
  return Object.fromEntries(members);
}

/**
 * Reads the members of a JSON object.
 * @param readMember reads the value of a key
 */
export function readMembers(
  reader: BlockReader,
  depth: number,
  readMember: (key: string, keyAt: number) => void,
): void {
  const keys = new Set<string>();
  if (depth >= MAX_DEPTH) reader.fail(`Values are nested more than ${MAX_DEPTH} deep.`);
  reader.skipSpace();
  reader.expect("{", "at the start of an object");
  reader.skipSpace();
  if (reader.skip("}")) return;
  for (;;) {
    const keyAt = reader.at;
    if (reader.isNext("}")) reader.fail('A comma stands before "}".');
    if (!reader.isNext('"')) reader.expected("a key in double quotes");
    const key = readString(reader);
    if (keys.has(key)) reader.fail(`The key ${quote(key)} occurs twice.`, keyAt);
    keys.add(key);
    reader.skipSpace();
    reader.expect(":", `after the key ${quote(key)}`);
    readMember(key, keyAt);
    reader.skipSpace();
    if (reader.skip("}")) return;
    reader.expect(",", 'or "}" after a value');
    reader.skipSpace();
  }
}

function readArray(reader: BlockReader, depth: number): JsonValue[] {
  const values: JsonValue[] = [];
  readElements(reader, depth, () => values.push(readJson(reader, depth + 1)));
  return values;
}

/** Reads the elements of a JSON array. */
export function readElements(reader: BlockReader, depth: number, readElement: () => void): void {
  if (depth >= MAX_DEPTH) reader.fail(`Values are nested more than ${MAX_DEPTH} deep.`);
  reader.expect("[", "at the start of an array");
  reader.skipSpace();
  if (reader.skip("]")) return;
  for (;;) {
    readElement();
    reader.skipSpace();
    if (reader.skip("]")) return;
    reader.expect(",", 'or "]" after an element');
    reader.skipSpace();
    if (reader.isNext("]")) reader.fail('A comma stands before "]".');
  }
}

function readString(reader: BlockReader): string {
  const begin = reader.at;
  reader.expect('"', "at the start of a string");
  const pieces: string[] = [];
  for (;;) {
    pieces.push(reader.take(PLAIN) as string);
    if (reader.isAtEnd) reader.fail("A string has no closing quotation mark.", begin);
    if (reader.skip('"')) break;
    if (reader.skip("\\")) pieces.push(readEscape(reader));
    else reader.fail(`The control character ${quote(reader.text[reader.at] as string)} in a string must be escaped.`);
  }
  return endString(reader, begin, pieces);
}

/** Returns the text of a string that has been read. Fails for a special token in it, and for a surrogate without its pair. */
export function endString(reader: BlockReader, begin: number, pieces: readonly string[]): string {
  reader.rejectTokens(begin, reader.at, "a string");
  const text = pieces.join("");
  if (!text.isWellFormed()) reader.fail("A string has a surrogate without its pair.", begin);
  return text;
}

function readEscape(reader: BlockReader): string {
  const at = reader.at - 1;
  const letter = reader.text[reader.at];
  if (letter === undefined) reader.fail("A string ends in an escape.", at);
  reader.at++;
  if (letter !== "u") return ESCAPES[letter] ?? reader.fail(`${quote(`\\${letter}`)} is not an escape of JSON.`, at);
  const digits = reader.take(HEX) ?? reader.fail('"\\u" is not followed by four hexadecimal digits.', at);
  return String.fromCharCode(Number.parseInt(digits, 16));
}

function readNumber(reader: BlockReader): number {
  const begin = reader.at;
  const text = reader.take(NUMBER);
  if (text === undefined) reader.fail('A number has no digit after "-".');
  const next = reader.text[reader.at];
  if (isDigit(next)) reader.fail("A number begins with 0.", begin);
  if (next === ".") reader.fail("A number has no digit after its point.", begin);
  if (next === "e" || next === "E") reader.fail("A number has no digit in its exponent.", begin);
  return exactNumber(reader, text, begin);
}

/** Returns the value of a decimal number. Fails if it is infinite or an inexact integer. */
export function exactNumber(reader: BlockReader, text: string, begin: number): number {
  const value = Number(text);
  if (!Number.isFinite(value)) reader.fail(`The number ${quote(text)} is too large.`, begin);
  if (/^-?[0-9]+$/.test(text) && !isExact(text, value))
    reader.fail(`The integer ${quote(text)} has more digits than a number holds exactly: write it as a string.`, begin);
  return value + 0;
}

/** Returns whether an integer keeps its value or its digits: the shortest form of a number over 2^53 has zeros for digits that it does not hold. */
function isExact(text: string, value: number): boolean {
  return Number.isSafeInteger(value) || String(value) === text || BigInt(value) === BigInt(text);
}

function readWord(reader: BlockReader): JsonValue {
  const begin = reader.at;
  if (reader.isNext("'")) reader.fail("A string is in single quotes: JSON uses double quotes.");
  const word = reader.take(WORD);
  if (word === undefined) return reader.expected("a value");
  const value = LITERALS.get(word);
  if (value !== undefined) return value;
  const correction = CORRECTIONS.get(word);
  return reader.fail(
    correction === undefined
      ? `${quote(word)} is not a value of JSON.`
      : `${quote(word)} is not a value of JSON: write ${correction}.`,
    begin,
  );
}

export function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= "0" && character <= "9";
}

/** Returns JSON with a space after each comma and colon, as chat templates write it. */
export function spacedJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(spacedJson).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${spacedJson(member)}`)
    .join(", ")}}`;
}
