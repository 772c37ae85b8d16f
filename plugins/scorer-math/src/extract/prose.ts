/** Answers in running text: after "the answer is", in the last formula, or the text itself. */
import { read } from "../read/read.ts";
import { Work } from "../work.ts";
import { denial } from "./denial.ts";
import type { Extraction } from "./extraction.ts";
import { mathRegions, type MathRegion } from "./regions.ts";

const ANCHOR =
  /\b(?:final\s+answer|answers?|solutions?(?:\s+set)?|result)\b(?:\s*\([^()\n]{0,40}\))?[*_\s]*(?:(?:is|are|equals|would be|should be|must be|will be|comes out to|=)\b(?:\s*:)?|[:=]|\s[–—]\s)/gi;
const LAST_IS =
  /^[\s\S]*\b(?:is|are|equals?|be|gives|get|obtain|yields|makes?|becomes|(?:simplifies|reduces|evaluates|comes|equal|amounts) to|=)\s+/i;
/** What the answer is not, after the answer. */
const CONTRAST = /(?:[,;(]\s*(?:and\s+)?not|[,;(]?\s*\b(?:rather than|instead of|as opposed to))\b[^.]*\.?\s*$/i;
const MONTH =
  /^(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?\s+\d/i;
const CLOCK = /^\d{1,2}(?::\d\d)?\s?[ap]\.?m\.?$/i;
/** What follows a value in brackets or explains it: `12 (twelve)`, `12, because 3 * 4 = 12`. */
const EXPLANATION = /^(.{1,80}?)(,?\s+(?:since|because|as (?:we|shown|required|desired))\b.*|\s*\((?=[^()]*[a-z]{3})[^()]{1,80}\)[\s.]*)$/is;
const LEADING =
  /^(?:[\s*_`>:#-]*(?:so|thus|hence|therefore|then|finally|and|but|we (?:get|have|find|obtain)|this gives|which gives|it(?:'s| is| equals)|that(?:'s| is)|simply|just|exactly|precisely|approximately|about|roughly|around|the (?:final )?answer(?: is)?|my answer is|i (?:choose|pick|select|think)|answer|is|are|equal to|option|choice)\b[,:]?\s*)+/i;
const NUMBER_IN_TEXT =
  /(?<![\w.])(?:\d{1,2}:\d\d(?:\s?[apAP]\.?[mM]\b\.?)?|[-−]?\$?\s?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:\s?\/\s?\d+)?(?:\s?%|\s*percent)?)(?!\w|\.\.)/g;
const LONGEST = 6_000;
/** Characters of an answer in words. */
const LONGEST_WORDS = 1_000;

export function findInProse(source: string, isReference: boolean): Extraction {
  const tail = source.slice(-LONGEST);
  let anchor: RegExpExecArray | undefined;
  ANCHOR.lastIndex = 0;
  for (let match = ANCHOR.exec(tail); match; match = ANCHOR.exec(tail)) anchor = match;
  if (anchor) {
    const before = tail.slice(0, anchor.index + anchor[0].length);
    const sentence = firstSentence(tail.slice(before.length));
    const result =
      sentence.trim() === ""
        ? undefined
        : inSentence(sentence, before, tail.slice(before.length + sentence.length), isReference);
    if (result) return result.found ? { ...result, source: "phrase" } : result;
  }
  return inSentence(tail, "", "", isReference) ?? { found: false, reason: "no answer in the text" };
}

/** Up to the first full stop that ends a sentence, outside formulas. */
function firstSentence(text: string): string {
  const regions = mathRegions(text.slice(0, 4000));
  const leading = /^[\s*_:]*/.exec(text)?.[0].length ?? 0;
  for (let i = leading; i < Math.min(text.length, 4000); i++) {
    const region = regions.find(({ start, end }) => start <= i && i < end);
    if (region) {
      i = region.end - 1;
      continue;
    }
    if (
      text[i] === "\n" ||
      ((text[i] === "." || text[i] === "!" || text[i] === "?") && /^(?:\s|$)/.test(text.slice(i + 1, i + 2)))
    )
      return text.slice(0, text[i] === "?" ? i : i + 1);
  }
  return text.slice(0, 4000);
}

function inSentence(sentence: string, before: string, after: string, isReference: boolean): Extraction | undefined {
  const regions = mathRegions(sentence);
  if (regions.length > 0) return inFormulas(sentence, regions, before, after, isReference);
  if (/\\[([]/.test(sentence)) return { found: false, reason: "a formula without its end on the same line" };
  return inWords(sentence, before, after, isReference);
}

/** `the minimum is 3 when $x = 2$`: the value stands before the formula. */
const STATED_BEFORE = /\b(?:is|are|equals)\s+([^,;:]{1,40}?),?\s+(?:when|where|for|at|since|because|if|with)\s*$/i;
const EXPLAINS = /^[\s.,;(]*(?:since|because|where|when|for|as|with|given|using|if|provided)\b/i;

/** The last formula that is not there to explain the one before it: `$x = 20$ (since $x > 0$)`. */
function beforeExplanations(sentence: string, regions: readonly MathRegion[]): MathRegion {
  let at = regions.length - 1;
  while (at > 0 && EXPLAINS.test(sentence.slice(regions[at - 1]?.end, regions[at]?.start))) at--;
  return regions[at] as MathRegion;
}

function inFormulas(
  sentence: string,
  regions: readonly MathRegion[],
  before: string,
  after: string,
  isReference: boolean,
): Extraction | undefined {
  const last = beforeExplanations(sentence, regions);
  const rest = sentence.slice(last.end);
  const stated = regions.length === 1 ? STATED_BEFORE.exec(sentence.slice(0, last.start))?.[1] : undefined;
  if (stated !== undefined && isValue(stated)) return inWords(stated, before, "", isReference);
  const value = /\b(?:is|are|equals)\s+(-?\$?\d[^.]*(?:\.\d+)?[^.]*?)[\s.]*$/i.exec(rest);
  if (value?.[1] && isValue(value[1])) return { found: true, answer: value[1].trim(), isMath: false, source: "text" };
  const count = regions.indexOf(last);
  let first = count;
  let join = ", ";
  while (first > 0) {
    const gap = sentence.slice(regions[first - 1]?.end, regions[first]?.start);
    if (!/^[\s,;]*(?:and|or|,|;)[\s,;]*$/i.test(gap)) break;
    if (/\bor\b/i.test(gap)) join = " \\text{ or } ";
    first--;
  }
  const start = (regions[first] as MathRegion).start;
  if (!isReference) {
    const reason = denial(before + sentence.slice(0, start), rest + after, first === count);
    if (reason) return { found: false, reason };
  }
  const content = regions
    .slice(first, count + 1)
    .map((region) =>
      region.content
        .replace(/^\s*\\[[(]|\\[\])]\s*$/g, "")
        .trim()
        .replace(/(?<!\\)[.,;]$/, ""),
    )
    .join(join);
  const unit = /^\s*(%|percent|[a-z]+(?:\s?(?:\/|per)\s?[a-z]+)?(?:\s?\^\s?\d)?)(?=[\s.,;!]*$)/i.exec(rest)?.[1];
  return {
    found: true,
    answer: unit && !/^(?:is|are|and|or)$/i.test(unit) ? `${content}\\text{ ${unit}}` : content,
    isMath: true,
    source: "math",
  };
}

function isValue(source: string): boolean {
  const { node } = read(source, false, new Work(5000));
  return node.kind !== "text";
}

function inWords(written: string, before: string, after: string, isReference: boolean): Extraction | undefined {
  const sentence = written.replace(/\\([$%#&_])/g, "$1");
  const bare = withoutMarkdown(sentence).trim();
  const positive = CONTRAST.test(bare) && /\d|\\/.test(bare.replace(CONTRAST, "")) ? bare.replace(CONTRAST, "") : bare;
  const stripped = positive.replace(LEADING, "").trim() || positive;
  const skipped = sentence.slice(0, Math.max(0, sentence.indexOf(stripped)));
  const check = (start: string, end: string): Extraction | undefined => {
    const reason = isReference ? undefined : denial(`${before} ${start}`, end + after, true);
    return reason === undefined ? undefined : { found: false, reason };
  };
  if (/^\(?[A-J][.):]\s+\S.{0,200}$/.test(bare) && before === "")
    return { found: true, answer: bare, isMath: false, source: "text" };
  if (!isReference && bare.endsWith("?")) return { found: false, reason: "the answer is asked, not given" };
  const reply = /\d|\\/.test(bare) ? undefined : /^(?:yes|no)\b(?=\s*[,.;:!–—-])/i.exec(bare)?.[0];
  if (reply) return { found: true, answer: reply, isMath: false, source: "text" };
  if ((MONTH.test(stripped) || CLOCK.test(stripped)) && stripped.length < 40)
    return { found: true, answer: stripped, isMath: false, source: "text" };
  const [, explained, explanation = ""] = EXPLANATION.exec(stripped.slice(0, 400)) ?? [];
  if (explained && isValue(explained))
    return check(skipped, explanation) ?? { found: true, answer: explained, isMath: false, source: "text" };
  if (stripped.length < 2000 && isValue(stripped))
    return check(skipped, "") ?? { found: true, answer: stripped, isMath: false, source: "text" };
  const tail = LAST_IS.exec(stripped.slice(-600));
  if (tail && !stripped.includes("\\")) {
    const value = stripped
      .slice(-600)
      .slice(tail[0].length)
      .replace(/^(?:an?|the|only)\s+/i, "");
    if (value.length > 0 && isValue(value))
      return check(skipped + tail[0], "") ?? { found: true, answer: value, isMath: false, source: "text" };
    // "The capital is Paris."
    if (
      !/\b(?:answer|solution|result|correct|right)\b/i.test(value) &&
      /^[A-Za-z][a-zA-Z'-]*(?: [a-zA-Z'-]+){0,3}[.!]?$/.test(value)
    )
      return (
        check(skipped + tail[0], "") ??
        check(`${skipped}${tail[0]}${value.split(" ", 1)[0] ?? ""}`, "") ?? {
          found: true,
          answer: value,
          isMath: false,
          source: "text",
        }
      );
  }
  const number = stripped.includes("\\") ? undefined : lastNumber(stripped);
  if (number)
    return (
      check(stripped.slice(0, number.index), stripped.slice(number.index + number[0].length)) ?? {
        found: true,
        answer: number[0].trim(),
        isMath: false,
        source: "text",
      }
    );
  return (
    check(skipped, "") ??
    (/^[\s.]*$/.test(stripped) || stripped.length > LONGEST_WORDS
      ? undefined
      : { found: true, answer: stripped, isMath: false, source: "text" })
  );
}

/** Without emphasis; `2**10` stays a power. */
function withoutMarkdown(text: string): string {
  return text.replace(/(?<![\w)])(\*\*|__)(?=\S)([^*_]+)\1(?![\w(])/g, "$2").replace(/`/g, "");
}

function lastNumber(text: string): RegExpExecArray | undefined {
  let last: RegExpExecArray | undefined;
  NUMBER_IN_TEXT.lastIndex = 0;
  const tail = text.slice(-2000);
  for (let match = NUMBER_IN_TEXT.exec(tail); match; match = NUMBER_IN_TEXT.exec(tail)) last = match;
  if (last) last.index += text.length - tail.length;
  return last;
}
