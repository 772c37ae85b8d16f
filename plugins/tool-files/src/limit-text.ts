/** Text within a limit. */
export interface LimitedText {
  readonly text: string;
  readonly isTruncated: boolean;
}

/**
 * Truncates a text to a number of UTF-8 bytes, between two characters. The notice at its end, which counts, states the size of the whole text.
 * @param limitBytes at least 100
 */
export function limitText(text: string, limitBytes: number): LimitedText {
  // A UTF-16 unit has at most three bytes: most texts need no count.
  if (text.length * 3 <= limitBytes) return { text, isTruncated: false };
  const bytes = Buffer.byteLength(text);
  if (bytes <= limitBytes) return { text, isTruncated: false };
  const notice = `\n[truncated: the whole result has ${bytes} bytes, the limit is ${limitBytes}]`;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(Math.max(0, limitBytes - notice.length)));
  return { text: text.slice(0, read) + notice, isTruncated: true };
}
