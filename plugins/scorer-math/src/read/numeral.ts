/** Numeric atoms: a literal, or a numeral in another base: `1010_2`, `1A_{16}`, `(101)_2`, `0x1F`, `0b101`. */
import { number, type Node } from "../tree/node.ts";
import { table } from "../table.ts";
import type { Parser } from "./state.ts";

const BASE = String.raw`_\s*(?:\{\s*(?:\\text\{)?\s*(?:base\s*)?(\d+|two|three|eight|ten|sixteen)\s*\}?\s*\}|(\d+))`;
const BASED = new RegExp(String.raw`(?:([0-9A-F]+)|\(\s*([0-9A-F]+)\s*\))\s*${BASE}`, "y");
const PREFIXED = /0(?:x([0-9a-fA-F]{1,60})|b([01]{1,240})|o([0-7]{1,80}))(?![\w.])/y;
const BASE_WORDS: Readonly<Record<string, number>> = table({ two: 2, three: 3, eight: 8, ten: 10, sixteen: 16 });

export function parseNumber(p: Parser): Node {
  const { lexer } = p;
  const based = readBased(p);
  if (based) return based;
  const literal = lexer.next().number;
  return literal ? number(literal.value, literal.decimals, literal.notation) : p.fail("no number");
}

/** Reads a numeral with its base; undefined when there is none here. One letter with a subscript is a variable. */
export function readBased(p: Parser): Node | undefined {
  const { lexer } = p;
  const { kind, value, start } = lexer.token;
  const canBegin =
    kind === "number" ||
    (kind === "operator" && value === "(") ||
    ((kind === "letter" || kind === "word") && /^[A-F]/.test(value));
  if (!canBegin) return undefined;
  const [match, digits, base] = find(lexer.source, start);
  if (!match || (/^[A-F]$/.test(digits) && kind !== "number")) return undefined;
  const result = inBase(digits, base);
  if (result === undefined) return /^\d/.test(digits) ? p.fail("a digit beyond the base") : undefined;
  lexer.moveTo(start + match.length);
  return number(result, undefined, { kind: "based", base });
}

function find(source: string, at: number): readonly [written: string, digits: string, base: number] {
  BASED.lastIndex = at;
  const based = BASED.exec(source);
  if (based) {
    const written = based[3] ?? based[4] ?? "";
    return [based[0], based[1] ?? based[2] ?? "", BASE_WORDS[written] ?? Number(written)];
  }
  PREFIXED.lastIndex = at;
  const prefixed = PREFIXED.exec(source);
  if (!prefixed) return ["", "", 0];
  const [written, hexadecimal, binary, octal] = prefixed;
  return [written, (hexadecimal ?? binary ?? octal ?? "").toUpperCase(), hexadecimal ? 16 : binary ? 2 : 8];
}

function inBase(digits: string, base: number): bigint | undefined {
  if (!(base >= 2 && base <= 36) || digits.length > 500) return undefined;
  let value = 0n;
  for (const digit of digits) {
    const d = Number.parseInt(digit, 36);
    if (d >= base) return undefined;
    value = value * BigInt(base) + BigInt(d);
  }
  return value;
}
