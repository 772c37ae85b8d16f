/** Numbers in running text, with their currency or unit: `2.500,75 €`, `1,250.5m²`, `40kg`, `3/8`, `2 1/2`, `3:4`. */
import { readNumberWords } from "../read/number-words.ts";
import { parseUnit } from "../units/unit.ts";
import { LONGEST_BEFORE, roleOf, STATED } from "./role.ts";

export type NumberInText = { readonly index: number; readonly text: string };

const CURRENCY = String.raw`(?:(?:US|AU|CA|HK|NZ|[ACR])?\$|[€£¥₹]|(?:USD|EUR|GBP|CHF|INR|CAD|AUD|JPY|CNY|RMB)(?=[\s\d])|Rs\.?(?=[\s\d]))`;
const POWER_OF_TEN = String.raw`\s?[×x*]\s?10(?:\^\{?[-−]?\d{1,4}\}?|\*\*[-−]?\d{1,4}|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]{1,5})`;
/** In order: times and ratios, mixed numbers, thousands and decimals as they are grouped in several countries, lists. */
const DIGITS = [
  String.raw`\d+ to \d+(?!\d|[.,]\d)(?<=\b(?:ratio|odds)\b[^.]{0,60})`,
  String.raw`\d{1,2}:\d\d(?:\s?[ap]\.?m\b\.?)?|\d+(?::\d+)+(?![.,]?\d)|\d+(?: : \d+)+(?![.,]?\d)`,
  String.raw`\d{1,6} \d{1,6}\/\d{1,6}`,
  String.raw`\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![,\d])`,
  String.raw`\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}`,
  String.raw`\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d+)?`,
  String.raw`\d{1,3}(?:['’]\d{3})+(?:\.\d+)?`,
  String.raw`\d+(?:,\d+){2,}`,
  String.raw`\d+,\d+|\d+(?:\.\d+)?|\.\d+`,
].join("|");
const SCALE = String.raw`\s(?:hundred|thousand|million|billion|trillion|dozen)\b`;
const NUMBER = new RegExp(
  String.raw`(?<![\w.^_]|\d,)[-−]?(?:${CURRENCY}\s?[-−]?)?(?:${DIGITS})(?:${POWER_OF_TEN}|\s?\/\s?\d+(?!\w|\.\d)|${SCALE})?`,
  "gi",
);
const SIGN_AFTER =
  /\s?(?:%|percent\b|pct\b\.?|prozent\b|pour\s?cent\b|por\s?ciento\b|per\s?cento\b|procent\b|[$€£¥₹¢](?!\s?\d)|°\s?[CF]?(?![a-zA-Z]))/iy;
const UNIT_AFTER =
  /\s?((?:(?:square|cubic|sq\.?)\s)?[a-zA-Zµ]+(?:\s?\/\s?[a-zA-Z]+|\sper\s[a-zA-Z]+)?(?:[²³]|\s?\^\s?\{?[23]\}?)?)(?![a-zA-Z\d])/y;
/** Words of sentences that are spelled like units. */
const NO_UNIT = /^(?:in|a|as|at|am|pm|h|m|g|s|l|[A-Z])(?=$|\s)/;
/** Returns the last number of the text among those with the highest role; at most 2,000 characters back. */
export function lastNumber(text: string): NumberInText | undefined {
  const tail = text.slice(-2000);
  const offset = text.length - tail.length;
  const numbers: NumberInText[] = [];
  NUMBER.lastIndex = 0;
  for (let match = NUMBER.exec(tail); match; match = NUMBER.exec(tail)) {
    const end = endOfUnit(tail, match.index + match[0].length);
    NUMBER.lastIndex = Math.max(end, match.index + 1);
    if (!/^(?:[\w]|\.\.)/.test(tail.slice(end, end + 2)))
      numbers.push({ index: match.index, text: tail.slice(match.index, end) });
  }
  if (numbers.length === 0) return undefined;
  const found = numbers.length === 1 ? (numbers[0] as NumberInText) : stated(tail, numbers);
  return { ...found, index: found.index + offset };
}

/** Returns the last number that has the highest role. */
function stated(text: string, numbers: readonly NumberInText[]): NumberInText {
  let best: NumberInText | undefined;
  let highest = -1;
  for (let i = numbers.length - 1; i >= 0 && highest < STATED; i--) {
    const number = numbers[i] as NumberInText;
    const role = roleOf(
      text.slice(Math.max(0, number.index - LONGEST_BEFORE), number.index),
      number.text,
      text.slice(number.index + number.text.length, number.index + number.text.length + 30),
    );
    if (role > highest) [best, highest] = [number, role];
  }
  return best as NumberInText;
}

/** Returns the offset after the percent sign, currency or unit that begins at `at`. */
function endOfUnit(text: string, at: number): number {
  SIGN_AFTER.lastIndex = at;
  const sign = SIGN_AFTER.exec(text);
  if (sign) return at + sign[0].length;
  const unit = unitAt(text, at);
  return unit === undefined ? at : text.indexOf(unit, at) + unit.length;
}

/** Returns the unit in letters that begins at `at`, after at most one space; undefined if a word of the sentence follows. */
export function unitAt(text: string, at: number): string | undefined {
  UNIT_AFTER.lastIndex = at;
  const unit = UNIT_AFTER.exec(text);
  if (!unit) return undefined;
  const isGlued = !/^\s/.test(unit[0]);
  const name = unit[1] as string;
  return [name, name.replace(/\s.*$/, "")].find(
    (candidate) => (isGlued || !NO_UNIT.test(candidate)) && parseUnit(candidate),
  );
}

const COUNTING =
  /(?:[,;]|\b(?:so|thus|hence|therefore|that|exactly|precisely|only|just|total of|(?:there|that) (?:are|is|remain|exist)|are|is|has|have|had|needs?|takes?|gets?|equals|leaves|gives|of)\b|^)\s*(?=[a-z])/gi;

/** Returns the number that a clause without digits counts in words: `there are exactly seven such integers`. */
export function countInWords(clause: string): NumberInText | undefined {
  const text = clause.slice(-600);
  COUNTING.lastIndex = 0;
  for (let match = COUNTING.exec(text); match; match = COUNTING.exec(text)) {
    const at = match.index + match[0].length;
    // The beginning of the clause matches without a character.
    if (match[0] === "") COUNTING.lastIndex++;
    const found = readNumberWords(text, at);
    if (
      !found ||
      /^\s+(?:of (?:the|these|those)\s+)?(?:(?:more|less|fewer)\b(?!\s+(?!than|or|and|in|of|to|if|because|since)[a-z]+)|thing|another|who|that|which)\b/i.test(
        text.slice(at + found.length),
      )
    )
      continue;
    if (/^\s+or\b/i.test(text.slice(at + found.length))) return undefined;
    const written = text.slice(at, at + found.length);
    const isPronoun = /^one$/i.test(written) && !/^(?:exactly|precisely|only|just|there)/i.test(match[0]);
    if (
      !isPronoun &&
      !/^[\s-]*(?:of (?:a|an|its)|[a-z]+(?:th|rd|nd|s)? of\b)/i.test(
        text.slice(at + found.length, at + found.length + 12),
      )
    )
      return { index: at + clause.length - text.length, text: written };
    if (!isPronoun && /^\s+of (?:the|these|those)\b/i.test(text.slice(at + found.length)))
      return { index: at + clause.length - text.length, text: written };
  }
  return undefined;
}
