/** Numeric literals: integers, decimals, thousands separators, scientific notation, repeating decimals. */
import { add, fromDecimal, rational, type Rational } from "../exact/rational.ts";
import type { Notation } from "../tree/node.ts";

export type Literal = {
  readonly length: number;
  readonly value: Rational;
  readonly decimals?: number;
  readonly notation?: Notation;
};

const PLAIN = /(?:\d+\.\d+|\d+\.(?![\d.]|\s*\\[lc]?dots)|\d+|\.\d+)/y;
const GROUPED =
  /\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d{1,3}(?: \d{3})+(?![\d,])(?! ?\d)(?:\.\d+)?|\d{1,3}(?:'\d{3})+(?![\d'])(?:\.\d+)?/y;
const EUROPEAN = /\d{1,3}(?:\.\d{3})+,\d+(?![\d,.])|\d{1,3}(?:\.\d{3}){2,}(?![\d,.])/y;
const EXPONENT = /[eE]([+-]?\d{1,7})(?![\d.a-zA-Z])/y;
const REPEATING =
  /(\d*)\.(\d*)(?:\\overline\s*\{(\d+)\}|\\bar\s*\{(\d+)\}|\\(?:bar|overline)\s*(\d)|\((\d+)\)|\\dot\s*\{?(\d)\}?(?:(\d*)\\dot\s*\{?(\d)\}?)?(?!\d|\\dot))/y;
const ELLIPSIS = /(\d*)\.(\d+)(?:\.\.\.|\s*\\[lc]?dots(?![a-zA-Z])|\\dots[bcm]?(?![a-zA-Z]))/y;
/** Maximum number of digits of a literal. The conversion takes quadratic time. */
const MOST_DIGITS = 5000;

/**
 * Reads the literal that begins at `at`, or undefined. `canGroup`: a comma or space between digits may group thousands.
 */
export function readLiteral(source: string, at: number, canGroup: boolean): Literal | undefined {
  return (
    readRepeating(source, at) ??
    readEllipsis(source, at) ??
    (canGroup ? readGrouped(source, at) : undefined) ??
    readPlain(source, at)
  );
}

function match(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

function readPlain(source: string, at: number): Literal | undefined {
  const raw = match(PLAIN, source, at)?.[0];
  return raw === undefined || raw.length > MOST_DIGITS ? undefined : withExponent(source, at, raw, raw);
}

function readGrouped(source: string, at: number): Literal | undefined {
  const grouped = match(GROUPED, source, at)?.[0];
  if (grouped !== undefined && grouped.length < MOST_DIGITS)
    return withExponent(source, at, grouped, grouped.replace(/[ ,']/g, ""));
  const european = match(EUROPEAN, source, at)?.[0];
  if (european === undefined || european.length > MOST_DIGITS) return undefined;
  return withExponent(source, at, european, european.replace(/\./g, "").replace(",", "."));
}

function withExponent(source: string, at: number, raw: string, digits: string): Literal {
  const point = digits.indexOf(".");
  const decimals = point < 0 ? undefined : digits.length - point - 1;
  const value = fromDecimal(digits.endsWith(".") ? digits.slice(0, -1) : digits);
  const exponent = match(EXPONENT, source, at + raw.length);
  if (!exponent) return decimals ? { length: raw.length, value, decimals } : { length: raw.length, value };
  const power = Number(exponent[1]);
  const length = raw.length + exponent[0].length;
  if (Math.abs(power) > MOST_DIGITS) return { length: raw.length, value };
  const scale = 10n ** BigInt(Math.abs(power));
  const scaled = power < 0 ? rational(value.n, value.d * scale) : rational(value.n * scale, value.d);
  const notation: Notation = { kind: "scientific", isNormal: value.n >= value.d && value.n < 10n * value.d };
  return decimals
    ? { length, value: scaled, decimals: decimals - power, notation }
    : { length, value: scaled, notation };
}

/** Reads `0.1\overline{6}`, `0.1(6)`, `0.\dot{3}`: the exact fraction. */
function readRepeating(source: string, at: number): Literal | undefined {
  const found = match(REPEATING, source, at);
  if (!found || found[0].length > MOST_DIGITS) return undefined;
  const period = found.slice(3).join("");
  return { length: found[0].length, value: repeating(found[1] as string, found[2] as string, period) };
}

/** Reads `0.333...`: the repeating decimal when the digits show at least two whole periods, and else the digits as printed. */
function readEllipsis(source: string, at: number): Literal | undefined {
  const found = match(ELLIPSIS, source, at);
  if (!found || found[0].length > 200) return undefined;
  const whole = found[1] as string;
  const digits = found[2] as string;
  for (let length = 1; length <= Math.floor(digits.length / 2); length++) {
    const period = digits.slice(-length);
    let start = digits.length;
    while (start >= length && digits.slice(start - length, start) === period) start -= length;
    if (digits.length - start >= Math.max(2 * length, 3))
      return { length: found[0].length, value: repeating(whole, digits.slice(0, start), period) };
  }
  return { length: found[0].length, value: fromDecimal(`${whole}.${digits}`), decimals: digits.length };
}

function repeating(whole: string, fixed: string, period: string): Rational {
  const scale = 10n ** BigInt(fixed.length);
  const nines = 10n ** BigInt(period.length) - 1n;
  return add(fromDecimal(`${whole}.${fixed}`), rational(BigInt(period), scale * nines));
}
