/** Sentences of running text, and the main clause of one. */
import { mathRegions, type MathRegion } from "./regions.ts";

export type Sentence = { readonly start: number; readonly end: number };

const LONGEST_SCAN = 4000;
/** Full stops after these do not end a sentence. */
const ABBREVIATION = /(?:\b(?:e\.g|i\.e|approx|ca|vs|resp|cf|Rs|No|Nr|Fig|Eq|Mr|Mrs|Ms|Dr|St|sq|pct)|\b[A-Z])$/;
/** Sentences after the answer that state nothing. */
const REMARK =
  /^[\s*_#>-]*(?:i hope|hope (?:this|that|it)|let me know|please|feel free|if you|thank|thanks|good luck|q\.?\s?e\.?\s?d|this completes|this concludes|this proves|which completes|the (?:proof|steps|solution|method|calculations?|explanation|code|reasoning)\b(?! is\b)|note that|note:|(?:we )?(?:can )?(?:verify|check)|check:|verification|[∎■□▪◼◻\s$\\a-z{}]*(?:∎|■|□|\\(?:blacksquare|square|Box|qed)))/i;

/** Returns the first sentence: up to a full stop or line break outside formulas. A question mark is left out. */
export function firstSentence(text: string): string {
  const scanned = text.slice(0, LONGEST_SCAN);
  const leading = /^[\s*_:]*/.exec(scanned)?.[0].length ?? 0;
  const end = endOfSentence(scanned, leading, mathRegions(scanned));
  return text.slice(0, text[end - 1] === "?" ? end - 1 : end);
}

/** Returns all sentences of at most 4,000 characters at the end of the text. */
export function sentences(text: string): readonly Sentence[] {
  const offset = Math.max(0, text.length - LONGEST_SCAN);
  const scanned = text.slice(offset);
  const regions = mathRegions(scanned);
  const out: Sentence[] = [];
  for (let start = 0; start < scanned.length;) {
    const end = endOfSentence(scanned, start, regions);
    if (scanned.slice(start, end).trim() !== "") out.push({ start: start + offset, end: end + offset });
    start = end;
  }
  return out;
}

function endOfSentence(text: string, from: number, regions: readonly MathRegion[]): number {
  let next = 0;
  for (let i = from; i < text.length; i++) {
    while (next < regions.length && (regions[next] as MathRegion).end <= i) next++;
    const region = regions[next];
    if (region && region.start <= i) {
      i = region.end - 1;
      continue;
    }
    const c = text[i];
    if (c === "\n") return i + 1;
    if ((c === "." || c === "!" || c === "?") && /^(?:\s|$)/.test(text.slice(i + 1, i + 2))) {
      if (
        c === "." &&
        ABBREVIATION.test(text.slice(Math.max(0, i - 8), i)) &&
        /^\s+[a-z\d(]/.test(text.slice(i + 1, i + 4))
      )
        continue;
      return i + 1;
    }
  }
  return text.length;
}

export function isRemark(sentence: string): boolean {
  return REMARK.test(sentence);
}

const SUBORDINATE =
  /,?\s+(?:since|because|as (?:required|desired|claimed|expected|wanted|needed|we|shown)|(?:after|before|when|while|by|from|without|on|not|including|excluding) \w+ing|where|given|provided|using|whereas|instead of|rather than|compared (?:to|with)|after (?:the (?:first|last) )?\d+ (?:seconds?|minutes?|hours?|days?|weeks?|months?|years?)|if|when)\b.*$/is;

/** A reason before the main clause: `Because the discriminant is -7, there is no real root`. */
const REASON =
  /^\s*(?:so,?\s+|and\s+|but\s+)?(?:since|because|as|given that|if|when|while|although)\b[^.;]*?,\s+(?=(?:so|then|thus|hence|we|there|the|it|this|that|he|she|they|only|no|exactly)\b)/i;

/** Addition to a statement: `, 15 more than Noah`, `, saving him 12 dollars`, `, 4 and 9,`. */
const ADDITION =
  /,\s+(?:(?:which|that) (?:is|are|was|were) (?:twice|half|double|three times|\d[\d.]* (?:more|less|fewer|times))\b|\d[\d.]* (?:more|less|fewer|times)\b|(?:saving|costing|earning|losing|using|including|counting|beating|exceeding)\b).*$|,\s+\d+(?:,\s\d+)*,?\s+and\s+\d+,(?=\s[a-z])/is;

/** Conclusion of a sentence: `..., so she is now 53`. */
const CONSEQUENCE =
  /[,;]\s+(?:and\s+)?(?:so|thus|hence|therefore|which (?:gives|means|makes|leaves|equals|is(?= [$€£]?\d))|giving|leaving|making|i\.e\.)\s+/gi;

/** Returns the sentence from its last consequence with a number on. */
function consequence(sentence: string): string {
  const lastDigit = sentence.search(/\d(?=\D*$)/);
  let from = 0;
  CONSEQUENCE.lastIndex = 0;
  for (let match = CONSEQUENCE.exec(sentence); match; match = CONSEQUENCE.exec(sentence))
    if (CONSEQUENCE.lastIndex <= lastDigit) from = CONSEQUENCE.lastIndex;
  return sentence.slice(from);
}

/** Keeps an addition only if the clause before it has no number. */
function ifOnlyNumber(addition: string, at: number, sentence: string): string {
  return /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b/i.test(sentence.slice(0, at))
    ? ""
    : addition;
}

/**
 * Returns the clause without what explains it: `Lisa has 13 apples left` of `Lisa has 13 apples left after giving 5
 * away`.
 */
export function mainClause(written: string): string {
  const sentence =
    consequence(written.slice(0, LONGEST_SCAN).replace(REASON, "").replace(ADDITION, ifOnlyNumber)) +
    written.slice(LONGEST_SCAN);
  const match = SUBORDINATE.exec(sentence.slice(0, LONGEST_SCAN));
  const clause = match ? sentence.slice(0, match.index) : sentence;
  // `by doing 25 / 5 = 5 hours of work` gives the result itself.
  return match &&
    !/^,?\s+(?:by|when|while|after)\b.*=\s*\$?\d/is.test(match[0]) &&
    /\d/.test(clause) &&
    /[a-z]{2}/i.test(clause)
    ? clause
    : sentence;
}
