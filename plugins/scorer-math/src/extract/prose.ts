/** Answers in running text: after "the answer is", in the last formula, or the text itself. */
import { read } from "../read/read.ts";
import { Work } from "../work.ts";
import { connective } from "./boxed.ts";
import { denial } from "./denial.ts";
import type { Extraction } from "./extraction.ts";
import { labelledValues } from "./labels.ts";
import { countInWords, lastNumber, unitAt, type NumberInText } from "./number.ts";
import { mathRegions, type MathRegion } from "./regions.ts";
import { LONGEST_BEFORE, roleOf } from "./role.ts";
import { firstSentence, isRemark, mainClause, sentences } from "./sentence.ts";

const ANCHOR =
  /\b(?:final\s+answer|answers?|solutions?(?:\s+set)?|result)\b(?:\s*\([^()\n]{0,40}\))?[*_\s]*(?:(?:is|are|equals|would be|should be|must be|will be|comes out to|=)\b(?:\s*:)?|[:=]|\s[–—]\s)/gi;
const LAST_IS =
  /^[\s\S]*\b(?:(?:is |are )?equal to|is|are|equals?|be|gives|get|obtain|yields|makes?|becomes|(?:simplifies|reduces|evaluates|comes|equal|amounts) to|=)\s+/i;
/** Phrase after the answer that excludes another one. */
const CONTRAST =
  /(?:[,;(]\s*(?:and\s+)?not|[,;(]?\s*\b(?:rather than|instead of|as opposed to|(?:an)?statt|au lieu d[e’']|en lugar de|en vez de|invece (?:di|che)))\b[^.]*\.?\s*$/i;
const MONTH =
  /^(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?\s+\d/i;
const CLOCK = /^\d{1,2}(?::\d\d)?\s?[ap]\.?m\.?$/i;
/** Explanation after a value: `12 (twelve)`, `12, because 3 * 4 = 12`. */
const EXPLANATION =
  /^(.{1,80}?)(,?\s+(?:since|because|as (?:we|shown|required|desired))\b.*|\s*\((?=[^()]*[a-z]{3})[^()]{1,80}\)[\s.]*)$/is;
/** Value after words and a colon: `fee for 2 days: 3,60 $`. */
const LABELLED = /^([^:]{0,60}[a-z]{3}[^:\d]{0,20}:)\s+([^:]{1,80})$/is;
const LEADING =
  /^(?:[\s*_`>:#-]*(?:so|thus|hence|therefore|then|finally|and|but|we (?:get|have|find|obtain|see|conclude)(?: that)?|(?:this|which) gives|it follows that|(?:it|this|that) (?:takes|costs|weighs|measures)|it(?:'s| is| equals)|that(?:'s| is)|simply|just|exactly|precisely|approximately|about|roughly|around|the (?:final )?answer(?: is)?|my answer is|i (?:choose|pick|select|think)|answer|is|are|equal to|option|choice)\b[,:]?\s*)+/i;
/** `The best choice would be A`, `I would pick option (C)`. */
const CHOSEN =
  /\b(?:choice|option|alternative|answer)\b(?:[^.,;]{0,20}\b(?:is|be|was))?:?\s+\(?([A-J])\)?(?=[\s,.;:]|$)/;
/** `The function is neither even nor odd`. */
const NEITHER = /\b(?:is|are)\s+(neither\s[a-z ]{2,40}\snor\s[a-z ]{2,40}?)[.\s]*$/i;
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
  return (
    inLastStatement(tail, isReference) ??
    inSentence(tail, "", "", isReference) ?? { found: false, reason: "no answer in the text" }
  );
}

/** Returns the last of several sentences that states a value; words only where they are a conclusion. */
function inLastStatement(text: string, isReference: boolean): Extraction | undefined {
  if (!/[.!?\n]\s*\S/.test(text)) return undefined;
  const parts = sentences(text);
  const isBroken = /\\[([]/.test(withoutRegions(text));
  if (parts.length < 2 || isBroken || (!text.includes("$") && isValue(text))) return undefined;
  for (const { start, end } of parts.slice(-MOST_SENTENCES).reverse()) {
    const sentence = text.slice(start, end);
    if (isRemark(sentence)) continue;
    const result = inSentence(sentence, text.slice(0, start), text.slice(end), isReference);
    if (!result) continue;
    if (!result.found || CONCLUDES.test(sentence) || isValueIn(result)) return result;
  }
  return undefined;
}

/** Returns the words around the formulas. */
function withoutRegions(text: string): string {
  let from = 0;
  let out = "";
  for (const { start, end } of mathRegions(text)) {
    out += `${text.slice(from, start)} `;
    from = end;
  }
  return out + text.slice(from);
}

const MOST_SENTENCES = 12;
const CONCLUDES = /^[\s*_>-]*(?:so|thus|hence|therefore|consequently|finally|in conclusion|we conclude|it follows)\b/i;

const BARE_NAME = /^\s*(?:\\triangle\s*)?\\?[a-zA-Z]+'?\s*$/;

/** Returns the number next to a name, which is not an answer: `$ABC$ is similar to $DEF$ with ratio 3`, `there are four values of $n$`. */
function numberBeside(sentence: string, last: MathRegion, count: number): NumberInText | undefined {
  if (!BARE_NAME.test(last.content)) return undefined;
  const rest = sentence.slice(last.end);
  const behind = /^\s+[a-z]/i.test(rest) ? lastNumber(mainClause(rest)) : undefined;
  if (behind) return { ...behind, index: last.end + behind.index };
  const head = sentence.slice(0, last.start);
  return count === 1 && /\b(?:of|for|in|with|by)\s+$/.test(head) && /^[\s.!]*$/.test(rest) ? numberIn(head) : undefined;
}

function isValueIn({ answer, isMath }: Extraction & { found: true }): boolean {
  return isMath || isValue(answer);
}

function inSentence(sentence: string, before: string, after: string, isReference: boolean): Extraction | undefined {
  const regions = mathRegions(sentence).filter(({ content }) => !END_OF_PROOF.test(content));
  const values = regions.length > 1 ? labelledValues(sentence) : undefined;
  if (values !== undefined) return { found: true, answer: values, isMath: true, source: "text" };
  const cases = regions.length > 2 ? caseDistinction(sentence, regions) : undefined;
  if (cases !== undefined) return { found: true, answer: cases, isMath: true, source: "text" };
  const isReply = regions.length > 0 && sentence.length < 400 && REPLY.test(sentence);
  const reply = isReply ? /no|yes/i.exec(sentence)?.[0] : undefined;
  if (reply !== undefined) return { found: true, answer: reply, isMath: false, source: "text" };
  if (regions.length > 0) return inFormulas(sentence, regions, before, after, isReference);
  if (/\\[([]/.test(sentence)) return { found: false, reason: "a formula without its end on the same line" };
  return inWords(sentence, before, after, isReference);
}

/** Returns `$8$ if $n$ is even, $9$ if $n$ is odd` as one formula; undefined for any other sentence. */
function caseDistinction(sentence: string, regions: readonly MathRegion[]): string | undefined {
  if (regions[0]?.start !== sentence.search(/\S/)) return undefined;
  const gaps = regions.map(({ end }, i) => sentence.slice(end, regions[i + 1]?.start));
  const isValue = (i: number): boolean =>
    /^\s*,?\s*(?:if|when|for|otherwise)\b/.test(gaps[i] as string) &&
    (i === 0 || /[,;]\s*(?:and\s+)?$/.test(gaps[i - 1] as string));
  if (!isValue(0) || !gaps.some((_, i) => i > 0 && isValue(i))) return undefined;
  return regions.map(({ content }, i) => `${content}\\text{${gaps[i]?.replace(/[\s.]*$/, " ")}}`).join("");
}

/** `No, $f$ is not continuous at $x = 0$`: the reply is the answer, and the clause repeats the question. */
const REPLY =
  /^[\s*_>]*(?:no\b\**\s*[,.:;–—-][^.!?;]*?(?:\b(?:not|no|never|cannot)\b|n't\b)[^.!?;,]*|yes\b\**\s*[,.:;–—-][^.!?$]*\b(?:is|are|does|do|can|has|have)\b[^.!?$]*\b(?:at|for|on|in|by|of|to|all|any|every)\s+\$[^$]*\$)[\s.!]*$/i;
const END_OF_PROOF = /^\s*\\(?:blacksquare|square|Box|qed|blacktriangle)\s*$/;
/** A clause that only prepares the statement: `Since $n < 12$, there are 7 such numbers`. */
const PREPARES =
  /^[\W_]*(?:(?:so|thus|hence|therefore|and|then|now|finally)\b,?\s+)?(?:since|as|because|if|when|for|with|given|at|substituting|using|from|by|checking|letting|let|taking|where|setting|among|on|[a-z]+ing)\b/i;
const STATES =
  /^[^.]{0,40}?(?:,|\b(?:there (?:are|is)|we (?:get|have|find|obtain|see)|gives|yields|is|are|equals|has|have)\b)/i;

/** `the minimum is 3 when $x = 2$`: the value is before the formula. */
const STATED_BEFORE =
  /\b(?:is|are|equals)\s+([^,;:]{1,40}?),?\s+(?:(?:which (?:is|occurs)\s+)?(?:attained|achieved|reached|obtained|taken|occurring)?\s*)(?:when|where|for|at|since|because|if|with)\s*$/i;
/** `$x$ is at most 3`. */
const BOUND =
  /^\s+(?:is|must be|can be|has to be)\s+((?:at (?:most|least)|(?:less|greater|more|fewer) than(?: or equal to)?)\s+\S{1,20}?)[\s.!]*$/;
const EXPLAINS = /^[\s.,;(]*(?:since|because|where|when|for|as|with|given|using|if|provided)\b/i;

const NUMBER_ALONE = /^\s*-?\\?\$?\d[\d.,]*(?:\\%|\\text\{[^{}]*\}|[\s^{}]|\\circ)*$/;

/**
 * Returns the last formula that is not there to explain the one before it: `$x = 20$ (since $x > 0$)`, `$12$ ways to
 * arrange $4$ books`.
 */
function beforeExplanations(sentence: string, regions: readonly MathRegion[]): MathRegion {
  let at = regions.length - 1;
  const role = ({ start, end, content }: MathRegion): number =>
    roleOf(
      sentence.slice(Math.max(0, start - LONGEST_BEFORE), start).replace(/\$/g, ""),
      content,
      sentence.slice(end, end + 30),
    );
  while (
    at > 0 &&
    [at, at - 1].every((i) => NUMBER_ALONE.test((regions[i] as MathRegion).content)) &&
    role(regions[at] as MathRegion) < role(regions[at - 1] as MathRegion)
  )
    at--;
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
  if (PREPARES.test(sentence.slice(0, regions[0]?.start)) && STATES.test(rest)) {
    const stated = numberIn(rest.replace(/^[\s,]+/, ""));
    if (stated) return { found: true, answer: stated.text.trim(), isMath: false, source: "text" };
  }
  const bound = regions.length === 1 && BARE_NAME.test(last.content) ? BOUND.exec(rest)?.[1] : undefined;
  if (bound !== undefined && isValue(bound)) return { found: true, answer: bound, isMath: false, source: "text" };
  const counted = isReference ? undefined : numberBeside(sentence, last, regions.length);
  if (
    counted &&
    !denial(
      before + sentence.slice(0, counted.index),
      sentence.slice(counted.index + counted.text.length) + after,
      true,
    )
  )
    return { found: true, answer: counted.text.trim(), isMath: false, source: "text" };
  // `Hence $f$ is an odd function`: a statement in words about something named.
  const property = /^\s*(?:is|are)\s+(?:an?\s+)?([a-z]{3,}(?:\s[a-z]+){0,2})[\s.!]*$/i.exec(rest)?.[1];
  if (
    property &&
    !/^(?:not|the|true|given|as|too|wrong|incorrect)\b/i.test(property) &&
    /^\s*\\?[a-zA-Z]+\s*$/.test(last.content)
  )
    return { found: true, answer: property, isMath: false, source: "text" };
  const count = regions.indexOf(last);
  let first = count;
  const gaps: string[] = [];
  const units: string[] = [];
  while (first > 0) {
    const gap = sentence.slice(regions[first - 1]?.end, regions[first]?.start);
    const [left, right] = [regions[first - 1], regions[first]] as [MathRegion, MathRegion];
    const areCounts =
      /^\s+[a-z]{3,20}(?:\s[a-z]+)?(?:,|,?\s(?:and|or))\s+$/i.test(gap) &&
      [left, right].every(({ content }) => /^\s*\d+\s*$/.test(content));
    const unitBetween = /=/.test(left.content) ? unitAt(gap, 0) : undefined;
    if (unitBetween !== undefined) {
      if (!/^\s*(?:,|;|,?\s(?:and|or))\s+$/i.test(gap.slice(gap.indexOf(unitBetween) + unitBetween.length))) break;
      units[first - 1] = `\\text{ ${unitBetween}}`;
    } else if (!areCounts && !/^[\s,;]*(?:and|or|,|;)[\s,;]*$/i.test(gap)) break;
    gaps.push(gap);
    first--;
  }
  const start = (regions[first] as MathRegion).start;
  if (!isReference) {
    const reason = denial(before + sentence.slice(0, start), rest + after, first === count);
    if (reason) return { found: false, reason };
  }
  const connected = regions.slice(first, count + 1).map(
    (region, i) =>
      region.content
        .replace(/^\s*\\[[(]|\\[\])]\s*$/g, "")
        .trim()
        .replace(/(?<!\\)[.,;]$/, "") + (units[first + i] ?? ""),
  );
  const content = connected.join(connective(gaps, connected));
  const unit = /^\s*(%|percent|[a-z]+(?:\s?(?:\/|per)\s?[a-z]+)?(?:\s?\^\s?\d)?)(?=[\s.,;!]*$)/i.exec(rest)?.[1];
  return {
    found: true,
    answer: unit && !/^(?:is|are|and|or)$/i.test(unit) ? `${content}\\text{ ${unit}}` : content,
    isMath: true,
    source: "math",
  };
}

export function isValue(source: string): boolean {
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
  if ((before === "" ? /^\(?[A-J][.):]\s+\S.{0,200}$/ : /^(?:\([A-J]\)|[A-J]\))\s+\S.{0,200}$/).test(bare))
    return { found: true, answer: bare, isMath: false, source: "text" };
  if (!isReference && bare.endsWith("?")) return { found: false, reason: "the answer is asked, not given" };
  const reply = /\d|\\/.test(bare.replace(/\s(?:since|because|as)\b.*$/is, ""))
    ? undefined
    : /^(?:yes|no)\b(?=\s*[,.;:!–—-])/i.exec(bare)?.[0];
  if (reply) return { found: true, answer: reply, isMath: false, source: "text" };
  const neither = stripped.includes("neither") ? NEITHER.exec(stripped)?.[1] : undefined;
  if (neither !== undefined) return { found: true, answer: neither, isMath: false, source: "text" };
  const choice = isReference ? null : CHOSEN.exec(stripped);
  if (choice)
    return (
      check(skipped + stripped.slice(0, choice.index), "") ?? {
        found: true,
        answer: choice[1] as string,
        isMath: false,
        source: "text",
      }
    );
  const values = labelledValues(stripped);
  if (values !== undefined) return check(skipped, "") ?? { found: true, answer: values, isMath: true, source: "text" };
  if ((MONTH.test(stripped) || CLOCK.test(stripped)) && stripped.length < 40)
    return { found: true, answer: stripped, isMath: false, source: "text" };
  const [, label = "", labelled] = LABELLED.exec(stripped.slice(0, 400)) ?? [];
  // `there are 7 such numbers: 1, 2, ...` lists what it counts.
  const isListing = /\d/.test(label) && /,\s/.test(labelled ?? "");
  if (labelled && !isListing && isValue(labelled))
    return check(`${skipped}${label}`, "") ?? { found: true, answer: labelled, isMath: false, source: "text" };
  const [, explained, explanation = ""] = EXPLANATION.exec(stripped.slice(0, 400)) ?? [];
  if (explained && isValue(explained))
    return check(skipped, explanation) ?? { found: true, answer: explained, isMath: false, source: "text" };
  if (stripped.length < 2000 && isValue(stripped))
    return check(skipped, "") ?? { found: true, answer: stripped, isMath: false, source: "text" };
  const statement = isListing ? label : stripped;
  const clause = statement.includes("\\") ? statement : mainClause(statement);
  const around = stripped.startsWith(clause) ? stripped : clause;
  const number = clause.includes("\\") ? undefined : numberIn(clause);
  const tail = LAST_IS.exec(clause.slice(-600));
  if (tail && !clause.includes("\\")) {
    const value = clause
      .slice(-600)
      .slice(tail[0].length)
      .replace(/^(?:an?|the|only)\s+/i, "");
    if (value.length > 0 && isValue(value))
      return check(skipped + tail[0], "") ?? { found: true, answer: value, isMath: false, source: "text" };
    // "The capital is Paris."
    if (
      !number &&
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
  if (number)
    return (
      check(around.slice(0, number.index), around.slice(number.index + number.text.length)) ?? {
        found: true,
        answer: number.text.trim(),
        isMath: false,
        source: "text",
      }
    );
  return (
    check(skipped, "") ??
    (/^[\s.]*$/.test(stripped) || stripped.length > LONGEST_WORDS
      ? undefined
      : { found: true, answer: clause, isMath: false, source: "text" })
  );
}

/** Returns the last number of a clause; if it has no digits, the number that it counts in words. */
function numberIn(clause: string): NumberInText | undefined {
  return lastNumber(clause) ?? (/\d/.test(clause) ? undefined : countInWords(clause));
}

/** Removes emphasis; `2**10` stays a power. */
function withoutMarkdown(text: string): string {
  return text.replace(/(?<![\w)])(\*\*|__)(?=\S)([^*_]+)\1(?![\w(])/g, "$2").replace(/`/g, "");
}
