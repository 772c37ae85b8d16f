import type { BigNumber, Complex, Unit } from "mathjs";
import { NotExact, type Rational, requireShort } from "./exact.ts";
import { DIGITS, math } from "./instance.ts";
import { InvalidExpression } from "./invalid-expression.ts";

/** Digits of the decimal expansion that follows a quotient. */
const QUOTIENT_DIGITS = 20;

/** Digits of numbers of JavaScript: the 16th and 17th contain rounding errors. */
export const NUMBER_DIGITS = 15;

/** Decimal places up to which an exact decimal fraction is written in full. */
const EXACT_PLACES = 1_000;

const isRational = (value: unknown): value is Rational => math.isFraction(value);

/** Formats a result: exact integers and fractions, else 64 significant digits, 15 for complex numbers. Each statement has a line. */
export function formatValue(value: unknown): string {
  if (math.isResultSet(value)) return (value.entries as unknown[]).map(formatValue).join("\n");
  if (isRational(value)) return formatRational(value);
  if (value === undefined || value === null) throw new InvalidExpression("The expression is empty");
  return formatPart(value);
}

/** Throws NotExact if a result that must be exact contains another number, or one with too many digits. */
export function requireExact(value: unknown): void {
  if (isRational(value)) requireShort(value);
  else if (math.isResultSet(value)) (value.entries as unknown[]).forEach(requireExact);
  else if (math.isMatrix(value)) requireExact(value.valueOf());
  else if (Array.isArray(value)) value.forEach(requireExact);
  else if (typeof value === "number" ? !Number.isSafeInteger(value) : typeof value === "object" && value !== null) {
    throw new NotExact("another kind of number");
  }
}

/** Formats a value, or one of a matrix or of several results: a quotient has no decimal expansion here. */
function formatPart(value: unknown): string {
  if (isRational(value)) return quotientOf(value);
  if (math.isBigNumber(value)) return formatDecimal(value);
  if (typeof value === "number") return math.format(value, NUMBER_DIGITS);
  if (math.isComplex(value)) return (value as Complex).format(NUMBER_DIGITS);
  if (math.isUnit(value)) return formatUnit(value as Unit);
  if (math.isMatrix(value)) return formatPart(value.valueOf());
  if (Array.isArray(value)) return `[${value.map(formatPart).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const parts = Object.entries(value).filter(([, part]) => typeof part !== "function");
    return `{${parts.map(([name, part]) => `${name}: ${formatPart(part)}`).join(", ")}}`;
  }
  return String(value);
}

function formatUnit(unit: Unit): string {
  return unit.format({ precision: DIGITS, lowerExp: -9, upperExp: DIGITS });
}

function formatDecimal(value: BigNumber, precision = DIGITS): string {
  return math.format(value, { precision, lowerExp: -9, upperExp: DIGITS });
}

function quotientOf({ s, n, d }: Rational): string {
  return d === 1n ? `${s * n}` : `${s * n}/${d}`;
}

/** Formats an integer, a decimal fraction, or a quotient with its approximate value. */
function formatRational(value: Rational): string {
  const { s, n, d } = value;
  if (d === 1n) return quotientOf(value);
  const places = decimalPlaces(d);
  if (places === undefined) return `${quotientOf(value)} ≈ ${approximation(value)}`;
  const digits = `${(n * 10n ** BigInt(places)) / d}`;
  if (digits.length <= DIGITS) return formatDecimal(math.bignumber(`${s * BigInt(digits)}e-${places}`));
  const padded = digits.padStart(places + 1, "0");
  return `${s < 0n ? "-" : ""}${padded.slice(0, -places)}.${padded.slice(-places)}`;
}

function approximation({ s, n, d }: Rational): string {
  return formatDecimal(math.bignumber(`${s * n}`).div(math.bignumber(`${d}`)), QUOTIENT_DIGITS);
}

/** Returns the number of decimal places of 1/d, or undefined if there are more than `EXACT_PLACES`. */
function decimalPlaces(d: bigint): number | undefined {
  let rest = d;
  const exponents = [2n, 5n].map((prime) => {
    let exponent = 0;
    for (; exponent <= EXACT_PLACES && rest % prime === 0n; exponent++) rest /= prime;
    return exponent;
  });
  const places = Math.max(...exponents);
  return rest === 1n && places <= EXACT_PLACES ? places : undefined;
}
