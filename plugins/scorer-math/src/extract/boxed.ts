/** The content of `\boxed{}` and `\fbox{}`, and the boxes that make up one answer. */
import { asEquations } from "./labels.ts";
import { unitAt } from "./number.ts";

export type Boxed = { readonly content: string; readonly start: number; readonly end: number };

const OPENING = /\\(?:boxed|fbox)\s*(\{|(?=[^\s{]))/g;
/** Boxes looked at, from the last. */
const MOST_BOXES = 64;

/** Returns all boxes with balanced braces, in order; nested boxes belong to the outer one. Linear in the text. */
export function findBoxes(source: string): readonly Boxed[] {
  const openings: number[] = [];
  OPENING.lastIndex = 0;
  for (let match = OPENING.exec(source); match; match = OPENING.exec(source)) openings.push(match.index);
  const out: Boxed[] = [];
  let from = 0;
  for (const start of openings.slice(-MOST_BOXES)) {
    if (start < from) continue;
    const box = readBox(source, start);
    if (!box) continue;
    out.push(box);
    from = box.end;
  }
  return out;
}

function readBox(source: string, start: number): Boxed | undefined {
  OPENING.lastIndex = start;
  const match = OPENING.exec(source);
  if (!match) return undefined;
  const open = match.index + match[0].length;
  if (match[1] === "") {
    const bare = /^[^\s$,;]+/.exec(source.slice(open, open + 60))?.[0].replace(/\.$/, "");
    return bare ? { content: bare, start, end: open + bare.length } : undefined;
  }
  let level = 1;
  for (let i = open; i < source.length; i++) {
    const c = source[i];
    if (c === "\\" && source[i + 1] !== "\\") i++;
    else if (c === "{") level++;
    else if (c === "}" && --level === 0) return { content: source.slice(open, i), start, end: i + 1 };
  }
  return undefined;
}

const CONNECTOR =
  /^(?:[\s,;&$]|\\[,;:! ()[\]]|\\quad|\\qquad|\\(?:text|mbox|textrm|mathrm)\s*\{[^{}]{0,60}\}|\band\b|\bor\b|for part \([a-z]\))*$/i;
const JOINS = /,|;|&|\b(?:and|or|plus|while|whereas)\b/;
/** Words after which a box holds what follows from the box before, or replaces it. */
const DERIVES =
  /\b(?:so|then|thus|hence|therefore|but|gives?|giving|(?:we|to|you) get|find|obtain|yields?|means|implies|since|because|becomes?|simplif\w+|equals?|wait|actually|no|not|instead|rather|adding|subtracting|multiply\w*|divid\w*|plugging|substitut\w+|which|from|now|finally|let|if|where|times|total|sum|altogether|answer|final|again|previously|later|first|before|after)\b|=>|\\(?:R|r|Longr)ightarrow|\\implies|\\to(?![a-z])|[+*/^<>?]|\\(?:cdot|times|div|neq?|le|ge)(?![a-z])/i;
/** The name of a value just before its box: `a = `, `(b)`, `Part (b):`, `2.` */
const NAME =
  /(?:^|[$,;\n:]|\\[([]|\b(?:and|or|is|are|have|that)\b|\\q?quad)\s*(\\?[A-Za-z|](?:[^$,;=.\n(]|\([^()$\n]{0,30}\)){0,40}?)\s*=\s*(?:\$|\\\(|\\\[)?\s*$/;
/** A name that may be written before its value; other names are left out. */
const SIMPLE_NAME = /^\\?[A-Za-z]{1,9}(?:_\{?\w{1,5}\}?)?'*(?:\(\s*[a-z]\s*\))?$/;
const PART =
  /(?:^|\n|[.;,:$}\])]\s)\s*(?:\*\*)?(?:(?:part|case)\s*)?(?:\(?([a-h]|i{1,3}|iv|v|\d)\)|([a-h]|\d)[.:])(?:\*\*)?[^\n]{0,80}$/i;

/** `The first root is`, `the other value:`, `one of the numbers is`: which of several values comes next. */
const WHICH_VALUE =
  /\b(?:the\s+)?(first|second|third|fourth|one|other|another|smaller|larger|greater|bigger)(?:\s+of\s+(?:the|them)\b)?(?:\s+(?:and\s+(?:last|final)\s+)?(?:real\s+|possible\s+)?(?:roots?|solutions?|numbers?|values?|integers?|terms?|parts?|box|equations?|angles?|sides?|unknowns?|variables?|zeros?|intercepts?|cases?|answers?|ones?))?\s*(?:(?:is|equals|gives|yields|has|are|for)\b|[:=])[^.!?\n]{0,30}$/i;

/**
 * Returns the boxes that are one answer: the last, and those before it that only commas, "and", words of a list or part
 * names separate.
 */
export function lastBoxes(source: string): readonly Boxed[] {
  const boxes = findBoxes(source);
  let first = boxes.length - 1;
  while (first > 0) {
    const [box, next] = [boxes[first - 1] as Boxed, boxes[first] as Boxed];
    if (!isJoined(source, box, next)) break;
    first--;
  }
  return boxes.slice(Math.max(0, first));
}

function isJoined(source: string, box: Boxed, next: Boxed): boolean {
  const gap = source.slice(box.end, next.start);
  if (gap.length > 200) return false;
  if (gap.length <= 80 && CONNECTOR.test(gap) && JOINS.test(gap)) return true;
  const [a, b] = [nameBefore(source, box), nameBefore(source, next)];
  const areParts = a !== undefined && b !== undefined && a !== b;
  // Each box names its own value: `\boxed{f(x) = 2x} for the first and \boxed{g(x) = x} for the second`.
  const isSentence = !/[.!?](?:\s|$)|\n\n/.test(gap);
  if (isSentence && JOINS.test(gap) && hasOtherName(box, next) && !DERIVES.test(gap.replace(WHICH_ONE, "")))
    return true;
  // Nothing but delimiters and line breaks: boxes one below the other.
  if (gap.length <= 80 && !/[a-z\d+*/^=<>]/i.test(gap.replace(/\\q?quad(?![a-z])|\\[()[\]]/g, ""))) return true;
  const [part, nextPart] = [partBefore(source, box), partBefore(source, next)];
  if (part !== undefined && nextPart !== undefined && part !== nextPart && !DERIVES.test(gap)) return true;
  const [which, other] = [box, next].map(({ start }) => whichBefore(source, start));
  if (which !== undefined && other !== undefined && which !== other) return true;
  const [own, nextOwn] = [box, next].map(({ content }) => OWN_NAME.exec(content)?.[1]);
  if (
    isSentence &&
    own !== undefined &&
    own === nextOwn &&
    /\bor\b/.test(gap) &&
    !/\b(?:or (?:rather|not)|not)\b/.test(gap)
  )
    return true;
  if (areParts && !DERIVES.test(gap.replace(NAME, ""))) return true;
  // Within one sentence, with an "and" or a comma, and nothing from which the second follows.
  const words = a !== undefined && a === b ? gap.replace(NAME, "") : gap;
  return (
    gap.length <= 100 && !/[.!?:](?:\s|$)|\n/.test(gap) && JOINS.test(gap) && !DERIVES.test(gap) && !words.includes("=")
  );
}

const WHICH_ONE = /\b(?:for|in|as) the (?:first|second|third|other|last|final)\b/gi;
/** Returns the name in the equation of a box. */
const OWN_NAME = /^\s*(\\?[A-Za-z][\w{}]*'*(?:\s*\([^()=]{1,20}\))?)\s*=/;

function hasOtherName(box: Boxed, next: Boxed): boolean {
  const [a, b] = [box, next].map(({ content }) => OWN_NAME.exec(content)?.[1]);
  return a !== undefined && b !== undefined && a !== b;
}

/** Returns the word for the place of a value among several, before the box at `start`. */
function whichBefore(source: string, start: number): string | undefined {
  const before = source.slice(Math.max(0, start - 100), start).replace(/^[\s\S]*\\boxed/, "");
  return WHICH_VALUE.exec(before)?.[1]?.toLowerCase();
}

/** Returns the name of the value in a box, or of the part of the question that it answers. */
export function nameBefore(source: string, box: Boxed): string | undefined {
  const before = source.slice(Math.max(0, box.start - 100), box.start).replace(/^[\s\S]*\\boxed/, "");
  const name = NAME.exec(before)?.[1];
  if (name !== undefined && !/[+*/]|\\(?:cdot|times|boxed)|\s[a-z]{2,}/.test(name)) return name.trim();
  return partBefore(source, box);
}

/** Returns the part of the question, or the number in a list, that a box stands behind. */
function partBefore(source: string, box: Boxed): string | undefined {
  const part = PART.exec(source.slice(Math.max(0, box.start - 100), box.start).replace(/^[\s\S]*\\boxed/, ""));
  return part ? `part ${part[1] ?? part[2]}` : undefined;
}

/** Joins several boxes to one answer, with their units, and with the names before them if each box has its own. */
export function joinBoxes(source: string, boxes: readonly Boxed[]): string {
  const gaps = boxes.slice(1).map((box, i) => source.slice(boxes[i]?.end, box.start));
  const join = connective(
    gaps,
    boxes.map(({ content }) => content),
  );
  const nouns = boxes.map((box) => NOUN.exec(source.slice(box.end, box.end + 40))?.[1]);
  const counted = nouns.every((noun) => noun !== undefined)
    ? asEquations(boxes.map(({ content }, i) => [nouns[i] as string, content]))
    : undefined;
  if (counted !== undefined && boxes.every(({ content }) => /^\s*\d+\s*$/.test(content))) return counted;
  const names = boxes.map((box) => nameBefore(source, box));
  const areNamed = names.every((name, i) => name !== undefined && SIMPLE_NAME.test(name) && names.indexOf(name) === i);
  const contents = boxes.map((box) => box.content + unitBehind(source, box));
  return contents
    .map((content, i) => (areNamed && !content.includes("=") ? `${names[i]} = ${content}` : content))
    .join(join);
}

/** Separators of the items of a list. "or", and "and" between inequalities, keep their meaning. */
export function connective(gaps: readonly string[], items: readonly string[]): string {
  if (gaps.some((gap) => /\bor\b/i.test(gap))) return " \\text{ or } ";
  const areConditions = items.every((item) => /[<>]|\\(?:[lg](?:eq?|t)(?:slant)?)(?![a-z])/.test(item));
  return areConditions && gaps.some((gap) => /\band\b/i.test(gap)) ? " \\text{ and } " : ", ";
}

/** The noun that a box counts. */
const NOUN = /^\$?\s+([a-z]{3,})\b/;

const MARKED_UNIT = /^\s*(?:\\?%|\^\s*\{?\s*\\circ\s*\}?|\\text\{[^{}]{1,30}\}(?:\s*\^\s*\{?\d\}?)?)/;

/** Factor after a box: `\boxed{5}x`, `\boxed{2}\sqrt{3}`. */
const FACTOR = /^(?:[a-z](?![a-zA-Z])|\\pi(?![a-z])|\\sqrt\{[^{}]*\})/;

/** Returns the percent sign, degrees, unit or factor behind a box, as LaTeX: `\boxed{12}$ cm`. */
export function unitBehind(source: string, box: Boxed): string {
  const marked = MARKED_UNIT.exec(source.slice(box.end, box.end + 60))?.[0];
  if (marked !== undefined && !/\\text\{[^{}]*(?:\b(?:and|or|where|for|if)\b|,)/.test(marked)) return marked;
  const factor = FACTOR.exec(source.slice(box.end, box.end + 30))?.[0];
  if (factor !== undefined && unitAt(source, box.end) === undefined) return factor;
  const closing = /^\s*(?:\$|\\\)|\\\])?/.exec(source.slice(box.end, box.end + 10))?.[0].length ?? 0;
  if (/[a-zA-Z\\]/.test(box.content.replace(/\\[dt]?frac|\\sqrt|\\pi|\\,|\\!|\\left|\\right/g, ""))) return "";
  const unit = unitAt(source, box.end + closing);
  return unit === undefined ? "" : `\\text{ ${unit}}`;
}
