/** Distance from the end of a part within which a better place for the end is searched, as a share of the part. */
const SEARCH_SHARE = 0.25;

/** Splits a text into parts of at most `size` characters, at the end of a paragraph, a line or a word where there is one near the limit. */
export function splitParts(text: string, size: number): string[] {
  const parts: string[] = [];
  let start = 0;
  while (text.length - start > size) {
    const end = start + size;
    const earliest = end - Math.floor(size * SEARCH_SHARE);
    const found = ["\n\n", "\n", " "]
      .map((mark) => text.lastIndexOf(mark, end - mark.length) + mark.length)
      .find((place) => place > earliest);
    const isInPair = /[\ud800-\udbff]/.test(text[end - 1] ?? "");
    const place = found ?? (isInPair ? end - 1 : end);
    parts.push(text.slice(start, place).trimEnd());
    start = place;
  }
  parts.push(text.slice(start));
  return parts;
}
