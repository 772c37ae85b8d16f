/** Mathematics regions of a text: `$...$`, `$$...$$`, `\(...\)`, `\[...\]`. */

export type MathRegion = { readonly start: number; readonly end: number; readonly content: string };

const OPENER = /\\\$|\$\$?|\\[[(]/g;
const CLOSERS: Readonly<Record<string, string>> = { $$: "$$", $: "$", "\\[": "\\]", "\\(": "\\)" };
/** Maximal number of characters, from the end, in which regions are searched. */
const LONGEST_SCAN = 10_000;
/** Maximal number of characters of inline mathematics over several lines. */
const LONGEST_INLINE = 400;

/**
 * Returns the regions in order, in linear time. Inline mathematics keeps to one line, unless no region does; a dollar
 * sign before a price opens no region.
 */
export function mathRegions(source: string): readonly MathRegion[] {
  const offset = Math.max(0, source.length - LONGEST_SCAN);
  const tail = source.slice(offset);
  const found = collect(tail, false);
  const regions = found.length === 0 && tail.includes("$") ? collect(tail, true) : found;
  return regions.map((region) => ({ ...region, start: region.start + offset, end: region.end + offset }));
}

function collect(text: string, canBreakLines: boolean): readonly MathRegion[] {
  const out: MathRegion[] = [];
  const missing = new Set<string>();
  OPENER.lastIndex = 0;
  for (let match = OPENER.exec(text); match; match = OPENER.exec(text)) {
    const opener = match[0];
    const closer = CLOSERS[opener];
    if (closer === undefined || missing.has(closer)) continue;
    const start = match.index;
    const from = start + opener.length;
    const close = findCloser(text, closer, from);
    if (close < 0) {
      missing.add(closer);
      continue;
    }
    const content = text.slice(from, close);
    const isInline = opener === "$" || opener === "\\(";
    const isBroken =
      isInline && content.includes("\n") && !(canBreakLines && opener === "$" && content.length <= LONGEST_INLINE);
    const end = close + closer.length;
    if (content === "" || isBroken || (opener === "$" && isPrice(content, text[end]))) continue;
    out.push({ start, end, content });
    OPENER.lastIndex = end;
  }
  return out;
}

/** Returns the next closer that is not escaped, or -1. */
function findCloser(text: string, closer: string, from: number): number {
  for (let at = text.indexOf(closer, from); at >= 0; at = text.indexOf(closer, at + 1)) {
    if (closer !== "$" || text[at - 1] !== "\\") return at;
  }
  return -1;
}

/** Whether the text between two dollar signs is prose after a price, as in `$5 and $6`. */
function isPrice(content: string, next: string | undefined): boolean {
  if (!/^\d/.test(content) || !(/\s$/.test(content) || /\d/.test(next ?? ""))) return false;
  return (
    /^\d[\d.,]*\s*[-+*/×]\s*$/.test(content) ||
    /\s[a-z](?:[a-z]|\.[a-z])/i.test(content.slice(0, LONGEST_INLINE).replace(/\\[a-zA-Z]+(?:\{[^}]*\})?/g, ""))
  );
}
