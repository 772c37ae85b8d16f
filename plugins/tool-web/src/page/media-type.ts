/** Bytes that are searched for the signs of HTML or of binary data. */
const SNIFFED_BYTES = 2048;
const HTML_TYPES = new Set(["text/html", "application/xhtml+xml"]);
const HTML_START = /<(!doctype html|html|head|body|title|p|div)[\s>]/i;

/** Returns the media type and the charset of a header `content-type`. */
export function parseContentType(header: string): { readonly type: string; readonly charset: string | undefined } {
  const [type = "", ...parameters] = header.split(";");
  const charset = parameters
    .map((text) => /^\s*charset\s*=\s*["']?([^"'\s]+)/i.exec(text)?.[1])
    .find((value) => value !== undefined);
  return { type: type.split(",", 1)[0]?.trim().toLowerCase() ?? "", charset };
}

/** Returns whether a page is text: by its media type, or by its first bytes if the server sent no type. */
export function isReadableType(header: string, bytes: Uint8Array): boolean {
  const { type } = parseContentType(header);
  if (type === "") return !bytes.subarray(0, SNIFFED_BYTES).includes(0);
  return (
    type.startsWith("text/") ||
    HTML_TYPES.has(type) ||
    /^application\/([\w.-]+\+)?(json|xml|yaml|x-ndjson|javascript)$/.test(type)
  );
}

/** Returns whether a page is HTML. */
export function isHtml(header: string, bytes: Uint8Array): boolean {
  const { type } = parseContentType(header);
  return type === ""
    ? HTML_START.test(Buffer.from(bytes.subarray(0, SNIFFED_BYTES)).toString("latin1"))
    : HTML_TYPES.has(type);
}
