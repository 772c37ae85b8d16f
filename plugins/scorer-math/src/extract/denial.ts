/** Whether the words around an answer deny or hedge it: such an answer is none. */

const DENIED_BEFORE =
  /(?:\b(?:not|never|cannot|isn'?t|aren'?t|wasn'?t|won'?t|can'?t|neither|nor|wrong|incorrect|false|without|except|excluding|unlike|instead of|rather than|other than|far from|rul(?:e|ed|es|ing) out|impossible|doubt(?:ful)?|unlikely|eliminat(?:e|ed)|discard(?:ed)?|reject(?:ed)?)\b|n't\b|≠|\\neq?\b)(?:(?!\bbut\b)[^.!?\n,;=]){0,24}$|\b(?:anything|everything|all|any(?: \w+)?) but\s*$/i;
const DENIED_AFTER =
  /^[\s$.,;)*\]}]*(?:(?:wait|no|hmm|actually|sorry)\b[,.\s]*)?(?:(?:which|that|this|it|but that|but this|but it)\s*)?(?:(?:['’]s|is|was|are|were|would be|seems|looks)\s+(?:both\s+|all\s+)?(?:definitely\s+|clearly\s+|obviously\s+)?(?:not(?!\s+only)|too\b|wrong|incorrect|false|impossible|a mistake)\b|(?:isn'?t|wasn'?t)\b|\(?(?:wrong|incorrect)\b)/i;
const HEDGED_BEFORE =
  /\b(?:maybe|perhaps|possibly|probably|presumably|might be|could be|may be|either|not sure|unsure|uncertain|unclear|guess(?:ing)?|cannot (?:determine|decide|tell)|don'?t know|do not know|hard to say|one of)\b[^.!?\n]{0,40}$|\bbetween\s+(?:[$\\(]*-?\d[^!?\n]{0,24}\band\s*)?[$\\(]*$/i; // words: quoted
const BOUNDED_BEFORE =
  /\b(?:at least|at most|(?:more|less|fewer|greater|larger|smaller|higher|lower) than|(?<!\b(?:add|adds|adding|sum|sums) )up to|no (?:more|less|fewer) than|below|above|under|(?<!\b(?:rang|vari|runs?|sum|tak)\w* )over)\s*\$?\s*$/i;
/** Words that change the number after them. */
const CHANGED_BEFORE =
  /\b(?:half|twice|double|triple|thrice|quadruple|(?:square|cube|third|quarter|fourth|fifth|tenth|root|reciprocal|opposite|negative|negation|inverse|logarithm|log|factorial|complement) of|square root|cube root)\s+(?:of\s+)?(?:the\s+)?\$?\s*$/i;
const HEDGED_AFTER =
  /^[\s$.,;)*\]}]*(?:\?|or\s+(?:maybe|perhaps|possibly|it|is|was|could|might|\$|\\|-?\d)|(?:,\s*)?(?:maybe|perhaps|possibly|but (?:maybe|perhaps|possibly|it (?:could|might)|i'?m not sure|not sure))\b)/i;

/** Words inside an answer that take it back or hedge it: `42 \text{ (wrong)}`. Hedged words alone, such as "wrong", are an answer in words. */
const DOUBTS =
  /\b(?:wrong|incorrect(?:ly)?|mistaken?|maybe|perhaps|possibly|probably|presumably|(?:most |very )?(?:un)?likely|guess(?:ed|ing)?|unsure|uncertain|sure|doubt(?:ful)?|or so|or something|i (?:think|believe|suppose)|do(?:n'?t| not) know|(?:might|could|may) be|instead of|rather than)\b|\\[bx]?cancel(?![a-z])|^\s*~~.*~~\s*$/i; // words: quoted
const VALUE = /\d|\\(?:[dt]?frac|sqrt|pi|infty)(?![a-z])|=/;

/** Returns the reason why a marked answer is none by its own words; undefined if it is one. */
export function ownDoubt(answer: string): string | undefined {
  return VALUE.test(answer) && DOUBTS.test(answer) ? "the answer is hedged" : undefined;
}

/** A value that ends the words before a marked answer: `5`, `5 or`, `2 \cdot`. Words such as `Step 2` describe it. */
const VALUE_BEFORE =
  /\d[\s)}\]%]*(?:[,;\s]|\b(?:or|and|but)\b|[-+*/^≈≠]|\\(?:cdot|times|div|pm|approx|sim|neq?)(?![a-z]))*$/;
/** A value that begins the words after it: `, 5`, `or 5`, `\approx 5`. */
const VALUE_AFTER =
  /^[ \t,;)]*(?:(?:\\text\s*\{\s*)?(?:or|and|but)\b[\s}]*|\\(?:cdot|times|div|pm|approx|sim|neq?)(?![a-z])|[-+*/^≈≠<>])?[ \t(]*[-+]?(?:\.?\d|\\[dt]?frac|\\sqrt)/;

/** Whether another value stands directly beside a marked answer: it is not known which of them is meant. */
export function hasOtherValue(before: string, after: string): boolean {
  const near = before.slice(-160).replace(DELIMITERS, " ");
  const clause = near.slice(near.lastIndexOf("\n") + 1).replace(/^.*[.:!?]\s/, "");
  const isDescribed = /[a-z]{3}/i.test(clause.replace(/\\[a-zA-Z]+/g, " ")) || /^\s*\(?\d{1,2}\)\s*$/.test(clause);
  return (!isDescribed && VALUE_BEFORE.test(clause)) || VALUE_AFTER.test(after.slice(0, 80).replace(DELIMITERS, " "));
}

const DELIMITERS = /\$|\\[()[\]]/g;

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
