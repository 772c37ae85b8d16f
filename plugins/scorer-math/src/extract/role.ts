/** The role of a number in its clause: what the clause states, what only describes it, or a label. */

/** Roles of numbers in a text. The number with the highest role is the answer; of several such numbers, the last one. */
export type Role = 0 | 1 | 2 | 3;
const [LABEL, DESCRIBES, LASTS]: readonly [Role, Role, Role] = [0, 1, 2];
export const STATED: Role = 3;
/** Characters before a number that decide its role. */
export const LONGEST_BEFORE = 160;

/** Words before a number that only counts off: `step 3`. */
const COUNTED_OFF =
  /\b(?:step|part|case|figure|fig\.|equation|eq\.|lemma|theorem|corollary|problem|question|exercise|method|section|line|row|item|numéro|nr\.?|no\.)\s*\(?$/i;
/** `30 of the 40 students`: the second number is the whole that the first is taken from. */
const WHOLE_BEFORE = /\d\s+(?:(?:out\s+)?of|among)\s+(?:the|these|those|all|our|its|her|his|their)\s+$/i;
/** Words before a number that only describes what is counted: `33 multiples of 3`, `4 numbers divisible by 5`. */
const QUALIFIES =
  /\b(?:divisible by|(?:multiples?|divisors?|factors?|powers?|remainder|sides?|lengths?|perimeter|radius|sum) (?:of|by)|modulo|not exceeding|between|from|with \w+)\s+\$?$|\d\s+[a-z]+s\s+of\s+$/i;
/** Words between a preposition and its number: `for the first 4 pens`, `with about 3`. */
const NEAR = String.raw`(?:\s+(?:the|these|those|all|a|an|his|her|its|their|our|der|die|das|den|dem|les|la|le|los|las|el|il|first|last|next|other|exactly|only|about|just|each|every|additional|remaining))*`;
const PREPOSITION = new RegExp(
  String.raw`(?:^|\s)(?:with|of|at|on|by|per|among|during|before|under|over|using|through|every|each|both|all|the|these|those|für|pour|para|por|mit|avec|con|von|bei|aus|pro|de|den|dem)${NEAR}\s+$`,
  "i",
);
/** Prepositions that introduce the statement itself: `est de 5`, `5 of 6`, `i.e. at 80`. */
const STATES =
  /(?:\b(?:is|are|was|est|sont|es|son|ist|sind|beträgt|è)\s+(?:of|at|de)|\d\s+of|\b(?:i\.e\.|that is|namely|or),?\s+[a-z]{2,4})\s+$/i;
/** A price after `for` is what is paid; another number is what the price buys. */
const FOR = new RegExp(String.raw`(?:^|\s)for${NEAR}\s+$`, "i");
const WITHIN = new RegExp(String.raw`(?:^|\s)(?:in|into|within|after|en|dans|nach|après|tras|dopo)${NEAR}\s+$`, "i");
/** `a total of 15`, `an area of 25`; not `at a speed of 60` in addition to a statement. */
const MEASURE =
  /(?<!\b(?:at|with|for|from|in|of|on|by|to)(?:\s+(?:an?|the))?(?:\s+[a-z]+)?\s+)\b(?:total|sum|average|mean|area|volume|length|height|width|distance|speed|probability|chance|value|price|cost|profit|loss|weight|mass|age|minimum|maximum|score|balance|income|salary|perimeter|circumference|amount|discount|difference|remainder|ratio|angle)\s+of\s+(?:about\s+|exactly\s+|only\s+)?$/i;
/** `increases from 20 to 25`, `grows by 12%`: the end value or the amount of a change. */
const CHANGE =
  /\b(?:increas|decreas|grow|rises?|rose|risen|drop|fall|fell|reduc|chang|improv|exceed|differ|shr[iau]nk|gain|cuts?\b|rais|lower|(?:go|goes|went|gone|going)\s(?:up|down))[^.;]{0,40}\b(?:by|to)\s+(?:about\s+|exactly\s+)?$/i;
/** `from 0 to 10`, `between 1 and 100`: ends of a range. */
const RANGE = /\b(?:from\s+\S{1,12}\s+to|between\s+\S{1,12}\s+and)\s+$/i;
/** `3 hours to travel 180 km`: the number belongs to what takes the first. */
const PURPOSE =
  /\d[^.;:=]{0,40}\s(?:(?<!\b(?:has|have|had|needs?|able|going|wants?|equal)\s)to|zum|zur|pour|para)\s+(?!(?:be|get|give|yield|make|obtain|equal|become)\b)[a-zà-ÿ]{2,}\s[^,;:=]{0,40}$/i; // words: quoted

/** Returns the role of the number behind `before`, which is written as `text` and followed by `after`. */
export function roleOf(before: string, text: string, after: string): Role {
  const near = before.slice(-40);
  if (COUNTED_OFF.test(near) || WHOLE_BEFORE.test(near)) return LABEL;
  if (PURPOSE.test(before.slice(-120))) return DESCRIBES;
  if (MEASURE.test(before.slice(-60))) return STATED;
  if (QUALIFIES.test(near)) return LABEL;
  if (STATES.test(near) || CHANGE.test(before.slice(-90))) return STATED;
  if (RANGE.test(near)) return DESCRIBES;
  const isPrice = /[$€£¥₹]|\b(?:dollars?|cents?|euros?|pounds?)\b/.test(text);
  if (FOR.test(near)) return isPrice ? STATED : DESCRIBES;
  if (WITHIN.test(near))
    return /^\s+(?:[a-z]+\s)?ways\b/.test(after) || (isDecimal(text) && !isDecimal(before)) ? STATED : LASTS;
  if (/^\s*(?:so|thus|hence|therefore)?,?\s*an?\s+$/i.test(before)) return DESCRIBES;
  if (PREPOSITION.test(near)) return /\d:\d\d/.test(text) ? STATED : DESCRIBES;
  return STATED;
}

function isDecimal(text: string): boolean {
  return /\d[.,]\d/.test(text);
}
