import type { JsonValue } from "@mrlm/spec";
import { type BlockReader, quote } from "./block-reader.ts";
import { MAX_DEPTH, endString, exactNumber, isDigit } from "./json-reader.ts";

const PLAIN = /[^"'\\\r\n]+/y;
const NUMBER = /-?(?:[0-9](?:_?[0-9])*)?(?:\.(?:[0-9](?:_?[0-9])*)?)?(?:[eE][+-]?[0-9]+)?/y;
const INTEGER = /-?0(?:[xX][0-9A-Fa-f]+|[oO][0-7]+|[bB][01]+)/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const OCTAL = /[0-7]{1,3}/y;

const ESCAPES: Readonly<Record<string, string>> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** Letters of escapes that name a character, and the number of their hexadecimal digits. */
const HEX: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

const LITERALS: ReadonlyMap<string, JsonValue> = new Map([
  ["True", true],
  ["False", false],
  ["None", null],
]);
const CORRECTIONS: ReadonlyMap<string, string> = new Map([
  ["true", "True"],
  ["false", "False"],
  ["null", "None"],
]);

/** Reads a Python literal that JSON can represent: a string, a number, `True`, `False`, `None`, a list, or a dictionary with strings as keys. */
export function readPython(reader: BlockReader, depth = 0): JsonValue {
  reader.skipSpace();
  const next = reader.text[reader.at];
  if (next === "[") return readList(reader, depth);
  if (next === "{") return readDictionary(reader, depth);
  if (next === '"' || next === "'") return readString(reader);
  if (next === "-" || next === "." || isDigit(next)) return readNumber(reader);
  if (next === "(") reader.fail("A tuple is not a value of JSON: write a list.");
  return readWord(reader);
}

function readList(reader: BlockReader, depth: number): JsonValue[] {
  const values: JsonValue[] = [];
  readSequence(reader, "[", "]", depth, () => values.push(readPython(reader, depth + 1)));
  return values;
}

function readDictionary(reader: BlockReader, depth: number): JsonValue {
  const entries = new Map<string, JsonValue>();
  readSequence(reader, "{", "}", depth, () => {
    const at = reader.at;
    if (!reader.isNext('"') && !reader.isNext("'")) reader.expected("a key in quotation marks");
    const key = readString(reader);
    if (entries.has(key)) reader.fail(`The key ${quote(key)} occurs twice.`, at);
    reader.skipSpace();
    reader.expect(":", `after the key ${quote(key)}`);
    entries.set(key, readPython(reader, depth + 1));
  });
  return Object.fromEntries(entries);
}

/** Reads elements in brackets, separated by commas. A comma after the last one is allowed. */
export function readSequence(
  reader: BlockReader,
  open: string,
  close: string,
  depth: number,
  readElement: () => void,
): void {
  if (depth >= MAX_DEPTH) reader.fail(`Values are nested more than ${MAX_DEPTH} deep.`);
  reader.expect(open, "at the start");
  reader.skipSpace();
  while (!reader.skip(close)) {
    readElement();
    reader.skipSpace();
    if (reader.skip(close)) return;
    reader.expect(",", `or ${quote(close)}`);
    reader.skipSpace();
  }
}

/** Reads a string in single, double or triple quotes. */
function readString(reader: BlockReader): string {
  const begin = reader.at;
  const mark = reader.text[begin] as string;
  const isTriple = reader.skip(mark.repeat(3));
  const close = isTriple ? mark.repeat(3) : mark;
  if (!isTriple) reader.at++;
  const pieces: string[] = [];
  while (!reader.skip(close)) {
    const plain = reader.take(PLAIN);
    if (plain !== undefined) pieces.push(plain);
    else if (reader.isAtEnd) reader.fail("A string has no closing quotation mark.", begin);
    else if (reader.skip("\\")) pieces.push(readEscape(reader));
    else {
      const character = reader.text[reader.at] as string;
      if (!isTriple && (character === "\n" || character === "\r"))
        reader.fail("A line break in a string must be escaped.");
      pieces.push(character);
      reader.at++;
    }
  }
  return endString(reader, begin, pieces);
}

function readEscape(reader: BlockReader): string {
  const at = reader.at - 1;
  const octal = reader.take(OCTAL);
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
  const letter = reader.text[reader.at];
  if (letter === undefined) reader.fail("A string ends in an escape.", at);
  reader.at++;
  const length = HEX[letter];
  if (length === undefined)
    return ESCAPES[letter] ?? reader.fail(`${quote(`\\${letter}`)} is not an escape of Python.`, at);
  const digits = reader.text.slice(reader.at, reader.at + length);
  const code = /^[0-9A-Fa-f]+$/.test(digits) && digits.length === length ? Number.parseInt(digits, 16) : Infinity;
  if (code > 0x10_ff_ff)
    reader.fail(`"\\${letter}" is not followed by ${length} hexadecimal digits of a character.`, at);
  reader.at += length;
  return String.fromCodePoint(code);
}

function readNumber(reader: BlockReader): number {
  const begin = reader.at;
  const integer = reader.take(INTEGER);
  const text = integer ?? reader.take(NUMBER) ?? "";
  if (!/[0-9]/.test(text)) reader.fail("A number has no digit.", begin);
  if (/^-?0[0-9_]*[1-9]/.test(text) && /^-?[0-9_]+$/.test(text)) reader.fail("A number begins with 0.", begin);
  if (reader.take(WORD) !== undefined) reader.fail("A number is followed by a letter.", begin);
  const sign = text.startsWith("-") ? "-" : "";
  const digits = text.slice(sign.length).replaceAll("_", "");
  return exactNumber(reader, `${sign}${integer === undefined ? digits : Number(digits)}`, begin);
}

function readWord(reader: BlockReader): JsonValue {
  const begin = reader.at;
  const word = reader.take(WORD);
  if (word === undefined) return reader.expected("a value");
  const value = LITERALS.get(word);
  if (value !== undefined) return value;
  if (reader.isNext('"') || reader.isNext("'")) reader.fail(`A string has the prefix ${quote(word)}.`, begin);
  const correction = CORRECTIONS.get(word);
  return reader.fail(
    correction === undefined
      ? `${quote(word)} is not a literal of Python.`
      : `${quote(word)} is not a literal of Python: write ${correction}.`,
    begin,
  );
}

/** Writes a value as a Python literal. */
export function writePython(value: JsonValue): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(writePython).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}: ${writePython(member)}`)
    .join(", ")}}`;
}
