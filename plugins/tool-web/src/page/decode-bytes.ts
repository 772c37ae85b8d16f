import { getEncoding } from "encoding-sniffer";

/** Bytes at the start that may declare the encoding (HTML, "prescan a byte stream"). */
const SNIFFED_BYTES = 1024;

/**
 * Decodes the bytes of a page. The encoding is that of `cheerio.loadBuffer` (byte order mark, `content-type`, `meta`, windows-1252), with corrections
 * for servers that declare a wrong one: valid UTF-8 is UTF-8, and invalid UTF-8 is not; UTF-16 and ISO-2022-JP are known by their zeros and escapes.
 * @param label charset of the header `content-type`
 * @param isHtml whether `meta` elements are searched
 */
export function decodeBytes(bytes: Uint8Array, label: string | undefined, isHtml: boolean): string {
  const shown = utf16Of(bytes) ?? japaneseOf(bytes);
  if (shown !== undefined) return new TextDecoder(shown).decode(bytes);
  const declared = declaredEncoding(bytes, label, isHtml);
  const isWide = declared.startsWith("utf-16") && hasByteOrderMark(bytes);
  if (!isWide && isUtf8(bytes)) return new TextDecoder().decode(bytes);
  if (declared !== "utf-8") return decoderOf(declared).decode(bytes);
  const lenient = new TextDecoder().decode(bytes);
  // A few damaged characters are kept as U+FFFD. Many mean that the declaration is wrong.
  const damaged = lenient.split("\uFFFD").length - 1;
  if (damaged * 20 < lenient.length - lenient.replace(/[\u0080-\uffff]+/g, "").length) return lenient;
  const other = declaredEncoding(bytes, undefined, isHtml);
  return decoderOf(other === "utf-8" ? "windows-1252" : other).decode(bytes);
}

function declaredEncoding(bytes: Uint8Array, label: string | undefined, isHtml: boolean): string {
  const sniffed = isHtml || hasByteOrderMark(bytes) ? bytes.subarray(0, SNIFFED_BYTES) : new Uint8Array();
  if (label !== undefined && isLabel(label) && !hasByteOrderMark(bytes)) return new TextDecoder(label).encoding;
  const encoding = getEncoding(sniffed, { defaultEncoding: isHtml ? "windows-1252" : "utf-8" });
  return isLabel(encoding) ? new TextDecoder(encoding).encoding : "windows-1252";
}

const hasByteOrderMark = ([first, second]: Uint8Array): boolean =>
  (first === 0xef && second === 0xbb) || (first === 0xfe && second === 0xff) || (first === 0xff && second === 0xfe);

/** Returns the kind of UTF-16 that the zeros among the first bytes show: every other byte of ASCII characters is zero. */
function utf16Of(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  const start = bytes.subarray(0, SNIFFED_BYTES);
  const zeros = [0, 0];
  for (const [index, byte] of start.entries()) if (byte === 0) zeros[index % 2]!++;
  const [even = 0, odd = 0] = zeros;
  const enough = start.length / 8;
  if (odd > enough && even * 8 < odd) return "utf-16le";
  return even > enough && odd * 8 < even ? "utf-16be" : undefined;
}

/** Returns ISO-2022-JP for bytes with its escape sequence. Its bytes are ASCII, and so valid UTF-8. */
const japaneseOf = (bytes: Uint8Array): "iso-2022-jp" | undefined =>
  ["\u001b$B", "\u001b$@"].some((escape) =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(escape),
  )
    ? "iso-2022-jp"
    : undefined;

/** Returns whether bytes are valid UTF-8. A character that the size limit cut at the end does not count. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

const decoderOf = (encoding: string): InstanceType<typeof TextDecoder> =>
  new TextDecoder(isLabel(encoding) ? encoding : "windows-1252");

function isLabel(label: string): boolean {
  try {
    new TextDecoder(label).decode();
    return true;
  } catch {
    return false;
  }
}
