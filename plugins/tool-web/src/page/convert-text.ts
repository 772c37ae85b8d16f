import { decodeBytes } from "./decode-bytes.ts";
import { isHtml, parseContentType } from "./media-type.ts";
import { visibleText } from "./text.ts";

/** Text of a page for a reader. */
export interface ConvertedPage {
  /** Empty if the page has none. */
  readonly title: string;
  readonly markdown: string;
  /** The page is longer, or has more elements, than a conversion reads. */
  readonly isTruncated: boolean;
  /** Statements on what the text lacks, as whole sentences. */
  readonly notes: readonly string[];
}

/** Characters of the text of a page. */
export const MAX_CHARACTERS = 1_000_000;
/** Bytes that are read at most, so that the memory does not depend on the size limit of a request. */
const MAX_SOURCE_BYTES = 16 * 1024 * 1024;

export function decodePage(bytes: Uint8Array, contentType: string): { readonly text: string; readonly isCut: boolean } {
  const { charset } = parseContentType(contentType);
  const text = decodeBytes(bytes.subarray(0, MAX_SOURCE_BYTES), charset, isHtml(contentType, bytes));
  return { text, isCut: bytes.length > MAX_SOURCE_BYTES };
}

/** Converts a page that is not HTML: text, Markdown, JSON and XML stay as they are. */
export function convertText(bytes: Uint8Array, contentType: string, maxCharacters = MAX_CHARACTERS): ConvertedPage {
  const { text, isCut } = decodePage(bytes, contentType);
  const markdown = visibleText(text.slice(0, maxCharacters)).trim();
  return { title: "", markdown, isTruncated: text.length > maxCharacters || isCut, notes: [] };
}
