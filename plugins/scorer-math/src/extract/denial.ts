/** Whether the words around an answer deny or hedge it: such an answer is none. */

const DENIED_BEFORE =
  /(?:\b(?:not|never|cannot|isn'?t|aren'?t|wasn'?t|won'?t|can'?t|neither|nor|wrong|incorrect|false|without|except|excluding|unlike|instead of|rather than|other than|far from|rul(?:e|ed|es|ing) out|impossible|doubt(?:ful)?|unlikely|eliminat(?:e|ed)|discard(?:ed)?|reject(?:ed)?)\b|n't\b|≠|\\neq?\b)(?:(?!\bbut\b)[^.!?\n,;=]){0,24}$|\b(?:anything|everything|all|any(?: \w+)?) but\s*$/i;
const DENIED_AFTER =
  /^[\s$.,;)*\]}]*(?:(?:wait|no|hmm|actually|sorry)\b[,.\s]*)?(?:(?:which|that|this|it|but that|but this|but it)\s*)?(?:(?:['’]s|is|was|are|were|would be|seems|looks)\s+(?:both\s+|all\s+)?(?:definitely\s+|clearly\s+|obviously\s+)?(?:not(?!\s+only)|too\b|wrong|incorrect|false|impossible|a mistake)\b|(?:isn'?t|wasn'?t)\b|\(?(?:wrong|incorrect)\b)/i;
const HEDGED_BEFORE =
  /\b(?:maybe|perhaps|possibly|might be|could be|may be|either|not sure|unsure|uncertain|unclear|guess(?:ing)?|cannot (?:determine|decide|tell)|don'?t know|do not know|hard to say|one of)\b[^.!?\n]{0,40}$|\bbetween\s+(?:[$\\(]*-?\d[^!?\n]{0,24}\band\s*)?[$\\(]*$/i; // words: quoted
const BOUNDED_BEFORE =
  /\b(?:at least|at most|(?:more|less|fewer|greater|larger|smaller|higher|lower) than|(?<!\b(?:add|adds|adding|sum|sums) )up to|no (?:more|less|fewer) than|below|above|under|(?<!\b(?:rang|vari|runs?|sum|tak)\w* )over)\s*\$?\s*$/i;
/** Words that change the number after them. */
const CHANGED_BEFORE =
  /\b(?:half|twice|double|triple|thrice|quadruple|(?:square|cube|third|quarter|fourth|fifth|tenth|root|reciprocal|opposite|negative|negation|inverse|logarithm|log|factorial|complement) of|square root|cube root)\s+(?:of\s+)?(?:the\s+)?\$?\s*$/i;
const HEDGED_AFTER =
  /^[\s$.,;)*\]}]*(?:\?|or\s+(?:maybe|perhaps|possibly|it|is|was|could|might|\$|\\|-?\d)|(?:,\s*)?(?:maybe|perhaps|possibly|but (?:maybe|perhaps|possibly|it (?:could|might)|i'?m not sure|not sure))\b)/i;

/** Returns the reason why the text between `before` and `after` is not an answer; undefined if it is one. */
export function denial(before: string, after: string, canHedge: boolean): string | undefined {
  const near = before.slice(-120);
  const next = after.slice(0, 80);
  if (DENIED_BEFORE.test(near) || DENIED_AFTER.test(next)) return "the answer is denied";
  if (canHedge && (BOUNDED_BEFORE.test(near) || /^\s*or (?:more|less|fewer|greater)\b/i.test(next)))
    return "the answer is a bound";
  if (canHedge && CHANGED_BEFORE.test(near)) return "the answer is only described";
  if (canHedge && (HEDGED_BEFORE.test(near) || HEDGED_AFTER.test(next))) return "the answer is hedged";
  return undefined;
}
