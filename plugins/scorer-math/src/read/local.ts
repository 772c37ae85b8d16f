/** Numbers and prices as countries write them: `3,20 $`, `2.500,75 €`, `R$ 5`, `US$18`, `Rs. 500`. */
import { parseUnit } from "../units/unit.ts";

/** Countries before a dollar sign; the currency stays one of dollars. */
const COUNTRY_DOLLAR = /(?<![a-zA-Z\\])(?:US|AU|CA|HK|NZ|SG|[ACRS])\s?(?=\\?\$\s?\d)/g;
const RUPEES = /(?<![a-zA-Z])Rs\.?\s?(?=\d)/g;
const PER_MILLE = /(?<=\d)\s*(?:‰|per\s?mil(?:le)?\b)/g;
const MARKED_SIGN = /\\(?:text|mathrm|mbox|textrm)\s*\{\s*\\?([$€£¥₹])\s*\}/g;
/** `1.050 €`: prices have two decimals, so that the point parts thousands. */
const THOUSANDS_OF_EUROS = /(?<![\d.,])([1-9]\d{0,2})\.(\d{3})(?=\s?€)/g;
/** A comma between digits that part no thousands, with a currency before it or something that may be a unit behind it. */
const COMMA =
  /(?<![\d.,])((?:\\?\$|[€£¥₹]|\b[A-Z]{3})\s?)?(\d{1,3}(?:[. \u00a0\u202f]\d{3})+|\d+),(\d+)(?=(\s*(?:\\?[%$]|[€£¥₹°]|\^\s*\{?\s*\\circ|\\(?:text|mathrm|textrm|mbox)\s*\{\s*\\?[^{}]*\}|[a-zA-Zµ][a-zA-Z/]*)?))(?![\d,]|\.\d)/g;

/** Returns the text with one spelling of currencies, and a decimal point where a decimal comma is certain. */
export function withLocalNumbers(source: string): string {
  let out = source;
  if (/‰|mil/.test(out)) out = out.replace(PER_MILLE, "/1000");
  if (/[$€£¥₹]|Rs/.test(out))
    out = out
      .replace(MARKED_SIGN, (_, sign: string) => (sign === "$" ? "\\$" : sign))
      .replace(COUNTRY_DOLLAR, "")
      .replace(RUPEES, "₹");
  if (out.includes("€")) out = out.replace(THOUSANDS_OF_EUROS, (_, whole: string, rest: string) => whole + rest);
  if (!/\d,\d/.test(out)) return out;
  return out.replace(
    COMMA,
    (written: string, currency: string | undefined, whole: string, digits: string, after: string) => {
      const isGrouped = digits.length === 3 && /^[1-9]\d{0,2}$/.test(whole);
      const isMoney = currency !== undefined && (!/[A-Z]/.test(currency) || parseUnit(currency.trim()) !== undefined);
      // `12 345,67` has groups of digits before the comma.
      const isCertain = isMoney || /[. \u00a0\u202f]/.test(whole) || isUnit(after.trim());
      if (isGrouped || !isCertain) return written;
      return `${currency ?? ""}${whole.replace(/[. \u00a0\u202f]/g, "")}.${digits}`;
    },
  );
}

function isUnit(after: string): boolean {
  if (/^(?:\\?[%$]|[€£¥₹°]|\^)/.test(after)) return true;
  const words = after.replace(/^\\(?:text|mathrm|textrm|mbox)\s*\{\s*|\}$/g, "").trim();
  return (
    /^(?:\\?%|percent|pct|prozent|pour|por|procent)/i.test(words) ||
    (words !== "" && !/^(?:in|a|as|at|A)$/.test(words) && parseUnit(words) !== undefined)
  );
}
