/** A numeric atom: a literal, or a numeral in another base such as `1010_2` or `1A_{16}`. */
import { number, type Node } from "../tree/node.ts";
import type { Parser } from "./state.ts";

const BASED =
  /([0-9A-F]+)\s*(\}?\)?)\s*_\s*(?:\{\s*(?:\\text\{)?\s*(?:base\s*)?(\d+|two|three|eight|ten|sixteen)\s*\}?\s*\}|(\d+))/y;
const BASE_WORDS: Readonly<Record<string, number>> = { two: 2, three: 3, eight: 8, ten: 10, sixteen: 16 };

export function parseNumber(p: Parser): Node {
  const { lexer } = p;
  BASED.lastIndex = lexer.token.start;
  const match = BASED.exec(lexer.source);
  if (match && match[2] === "") {
    const written = match[3] ?? match[4] ?? "";
    const value = inBase(match[1] as string, BASE_WORDS[written] ?? Number(written));
    if (value === undefined) return p.fail("a digit beyond the base");
    lexer.moveTo(lexer.token.start + match[0].length);
    return number(value);
  }
  const literal = lexer.next().number;
  return literal ? number(literal.value, literal.decimals) : p.fail("no number");
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
