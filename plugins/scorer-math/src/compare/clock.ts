/** Times of day and calendar dates. */
import { table } from "../table.ts";
import { different, equivalent, type Outcome } from "../verdict.ts";

/** Seconds after midnight. `isExact`: the text has a.m. or p.m., or an hour after noon, so the half of the day is known. */
type Clock = { readonly seconds: number; readonly isExact: boolean };

const CLOCK = /^(?:at\s+)?(\d{1,2})(?::(\d\d)(?::(\d\d))?)?\s*(?:([ap])\.?\s?m\.?|(noon|midnight|o'?clock))?$/i;
const HALF_DAY = 43_200;

const MONTHS = "january february march april may june july august september october november december".split(" ");
const MONTH = String.raw`(${MONTHS.map((name) => `${name}|${name.slice(0, 3)}`).join("|")}|sept)\.?`;
const DAY = String.raw`(\d{1,2})(?:st|nd|rd|th)?`;
const YEAR = String.raw`(?:,?\s+(\d{4}))?`;
const WEEKDAY = String.raw`(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,?\s+)?`;
const MONTH_FIRST = new RegExp(`^${WEEKDAY}${MONTH}\\s+(?:the\\s+)?${DAY}${YEAR}$`, "i");
const DAY_FIRST = new RegExp(`^${WEEKDAY}(?:the\\s+)?${DAY}\\s+(?:of\\s+)?${MONTH}${YEAR}$`, "i");
const ISO = /^(\d{4})-(\d\d)-(\d\d)$/;

/** Compares two times of day or two dates; undefined when one of the texts is neither. */
export function compareMoments(expected: string, answer: string): Outcome | undefined {
  const [a, b] = [bare(expected), bare(answer)];
  const [left, right] = [clockOf(a), clockOf(b)];
  if (left && right && (isTime(a) || isTime(b))) return compareClocks(left, right);
  const [first, second] = [dateOf(a), dateOf(b)];
  if (!first || !second) return undefined;
  const isSame = first.month === second.month && first.day === second.day;
  const isYearOpen = first.year === undefined || second.year === undefined || first.year === second.year;
  return isSame && isYearOpen ? equivalent("text", "the same date") : different("text", "different dates");
}

function bare(source: string): string {
  return source
    .replace(/\\(?:text|mathrm|textbf|mathbf)\s*\{([^{}]*)\}/g, " $1 ")
    .replace(/\{:\}/g, ":")
    .replace(/\\[,;: ]|[~$]/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/(?<![ap]\.?m)[.,]$/i, "");
}

/** Whether a text is more than a number: two bare numbers or two ratios are no times. */
function isTime(text: string): boolean {
  return /[a-z]/i.test(text);
}

function clockOf(text: string): Clock | undefined {
  if (/^(?:12\s+)?(?:noon|midnight)$/i.test(text)) return { seconds: /noon/i.test(text) ? HALF_DAY : 0, isExact: true };
  const match = CLOCK.exec(text);
  if (!match || (match[2] === undefined && match[4] === undefined && match[5] === undefined)) return undefined;
  const [, hours = "", minutes = "0", seconds = "0", half] = match;
  const [h, m, s] = [Number(hours), Number(minutes), Number(seconds)];
  if (h > 24 || m > 59 || s > 59 || (half !== undefined && (h < 1 || h > 12))) return undefined;
  const hour = half === undefined ? h : (h % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  return { seconds: hour * 3600 + m * 60 + s, isExact: half !== undefined || h > 12 || h === 0 };
}

function compareClocks(a: Clock, b: Clock): Outcome {
  const isSame = a.isExact && b.isExact ? a.seconds === b.seconds : (a.seconds - b.seconds) % HALF_DAY === 0;
  return isSame ? equivalent("text", "the same time of day") : different("text", "different times of day");
}

type CalendarDate = { readonly month: number; readonly day: number; readonly year: string | undefined };

const MONTH_NUMBERS = table(
  Object.fromEntries(
    MONTHS.flatMap((name, i) => [[name, i + 1] as const, [name.slice(0, 3), i + 1] as const, ["sept", 9] as const]),
  ),
);

function dateOf(text: string): CalendarDate | undefined {
  const iso = ISO.exec(text);
  if (iso) return { month: Number(iso[2]), day: Number(iso[3]), year: iso[1] };
  const first = MONTH_FIRST.exec(text);
  if (first) return { month: monthOf(first[1]), day: Number(first[2]), year: first[3] };
  const second = DAY_FIRST.exec(text);
  return second ? { month: monthOf(second[2]), day: Number(second[1]), year: second[3] } : undefined;
}

function monthOf(name = ""): number {
  return MONTH_NUMBERS[name.toLowerCase()] ?? 0;
}
