/** The content of `\boxed{}` and `\fbox{}`. */

export type Boxed = { readonly content: string; readonly start: number; readonly end: number };

const OPENING = /\\(?:boxed|fbox)\s*(\{|(?=[^\s{]))/g;
/** Boxes looked at, from the last. */
const MOST_BOXES = 64;

/** All boxes with balanced braces, in order; nested boxes belong to the outer one. Linear in the text. */
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

/** The last box, or the last ones when only commas, "and" or "or" stand between them. */
export function lastBoxes(source: string): readonly Boxed[] {
  const boxes = findBoxes(source);
  let first = boxes.length - 1;
  while (first > 0) {
    const gap = source.slice(boxes[first - 1]?.end, boxes[first]?.start);
    if (gap.length > 80 || !CONNECTOR.test(gap) || !/,|;|&|\b(?:and|or)\b/.test(gap)) break;
    first--;
  }
  return boxes.slice(Math.max(0, first));
}
