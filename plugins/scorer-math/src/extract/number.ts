/** Numbers in running text, with their currency or unit: `2.500,75 €`, `1,250.5m²`, `40kg`, `3/8`, `2 1/2`, `3:4`. */
import { readNumberWords } from "../read/number-words.ts";
import { parseUnit } from "../units/unit.ts";

export type NumberInText = { readonly index: number; readonly text: string };

const CURRENCY = String.raw`(?:(?:US|AU|CA|HK|NZ|[ACR])?\$|[€£¥₹]|(?:USD|EUR|GBP|CHF|INR|CAD|AUD|JPY|CNY|RMB)(?=[\s\d])|Rs\.?(?=[\s\d]))`;
const POWER_OF_TEN = String.raw`\s?[×x*]\s?10(?:\^\{?[-−]?\d{1,4}\}?|\*\*[-−]?\d{1,4}|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]{1,5})`;
/** In order: times and ratios, mixed numbers, thousands and decimals as they are grouped in several countries, lists. */
const DIGITS = [
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
const SIGN_AFTER = /\s?(?:%|percent\b|pct\b\.?|prozent\b|pour\s?cent\b|por\s?ciento\b|per\s?cento\b|procent\b|[$€£¥₹¢](?!\s?\d)|°\s?[CF]?(?![a-zA-Z]))/iy;
const UNIT_AFTER =
  /\s?((?:(?:square|cubic|sq\.?)\s)?[a-zA-Zµ]+(?:\s?\/\s?[a-zA-Z]+|\sper\s[a-zA-Z]+)?(?:[²³]|\s?\^\s?\{?[23]\}?)?)(?![a-zA-Z\d])/y;
/** Words of sentences that are spelled like units. */
const NO_UNIT = /^(?:in|a|as|at|am|pm|h|m|g|s|l|[A-Z])(?=$|\s)/;
/** Words before a number that only counts off: `step 3`. */
const COUNTED_OFF =
  /\b(?:step|part|case|figure|fig\.|equation|eq\.|lemma|theorem|corollary|problem|question|exercise|method|section|line|row|item|numéro|nr\.?|no\.)\s*\(?$/i;
/** `30 of the 40 students`: the second number is the whole that the first is taken from. */
const WHOLE_BEFORE = /\d\s+(?:(?:out\s+)?of|among)\s+(?:the|these|those|all|our|its|her|his|their)\s+$/i;

/** Words before a number that only describes what is counted: `33 multiples of 3`, `4 numbers divisible by 5`. */
const QUALIFIES =
  /\b(?:divisible by|(?:multiples?|divisors?|factors?|powers?|remainder|sides?|lengths?|perimeter|radius|sum) (?:of|by)|modulo|not exceeding|between|from|with \w+)\s+\$?$|\d\s+[a-z]+s\s+of\s+$/i;

/** The last number of the text that is a value, and not a label or the whole of a part; at most 2,000 characters back. */
export function lastNumber(text: string): NumberInText | undefined {
  const tail = text.slice(-2000);
  const offset = text.length - tail.length;
  let last: NumberInText | undefined;
  let lastLabel: NumberInText | undefined;
  NUMBER.lastIndex = 0;
  for (let match = NUMBER.exec(tail); match; match = NUMBER.exec(tail)) {
    const end = endOfUnit(tail, match.index + match[0].length);
    NUMBER.lastIndex = Math.max(end, match.index + 1);
    if (/^(?:[\w]|\.\.)/.test(tail.slice(end, end + 2))) continue;
    const found = { index: match.index + offset, text: tail.slice(match.index, end) };
    const before = tail.slice(Math.max(0, match.index - 40), match.index);
    if (COUNTED_OFF.test(before) || WHOLE_BEFORE.test(before) || QUALIFIES.test(before)) lastLabel = found;
    else last = found;
  }
  return last ?? lastLabel;
}

/** The offset after the percent sign, currency or unit that begins at `at`. */
function endOfUnit(text: string, at: number): number {
  SIGN_AFTER.lastIndex = at;
  const sign = SIGN_AFTER.exec(text);
  if (sign) return at + sign[0].length;
  const unit = unitAt(text, at);
  return unit === undefined ? at : text.indexOf(unit, at) + unit.length;
}

/** The unit in letters that begins at `at`, after at most one space; undefined where a word of the sentence stands. */
export function unitAt(text: string, at: number): string | undefined {
  UNIT_AFTER.lastIndex = at;
  const unit = UNIT_AFTER.exec(text);
  if (!unit) return undefined;
  const isGlued = !/^\s/.test(unit[0]);
  const name = unit[1] as string;
  return [name, name.replace(/\s.*$/, "")].find((candidate) => (isGlued || !NO_UNIT.test(candidate)) && parseUnit(candidate));
}

const COUNTING =
  /(?:^|[,;]|\b(?:so|thus|hence|therefore|that|exactly|precisely|only|just|total of|(?:there|that) (?:are|is|remain|exist)|are|is|has|have|had|needs?|takes?|gets?|equals|leaves|gives|of)\b)\s*(?=[a-z])/gi;

/** The number that a clause without digits counts in words: `there are exactly seven such integers`. */
export function countInWords(clause: string): NumberInText | undefined {
  const text = clause.slice(-600);
  COUNTING.lastIndex = 0;
  for (let match = COUNTING.exec(text); match; match = COUNTING.exec(text)) {
    const at = match.index + match[0].length;
    // The beginning of the clause matches without a character.
    if (match[0] === "") COUNTING.lastIndex++;
    const found = readNumberWords(text, at);
    if (!found || /^\s+(?:of (?:the|these|those)\s+)?(?:more|less|fewer|thing|another|who|that|which)\b/i.test(text.slice(at + found.length))) continue;
    if (/^\s+or\b/i.test(text.slice(at + found.length))) return undefined;
    const written = text.slice(at, at + found.length);
    const isPronoun = /^one$/i.test(written) && !/^(?:exactly|precisely|only|just|there)/i.test(match[0]);
    if (!isPronoun && !/^[\s-]*(?:of (?:a|an|its)|[a-z]+(?:th|rd|nd|s)? of\b)/i.test(text.slice(at + found.length, at + found.length + 12)))
      return { index: at + clause.length - text.length, text: written };
    if (!isPronoun && /^\s+of (?:the|these|those)\b/i.test(text.slice(at + found.length)))
      return { index: at + clause.length - text.length, text: written };
  }
  return undefined;
}
