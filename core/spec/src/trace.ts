/** Version, trace, parent and flags of W3C Trace Context. Trace and parent are not zero; a later version may have more fields. */
const FORM = /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(-.*)?$/;

/**
 * Reads a `traceparent` of W3C Trace Context. That of a later version is read as version 00, by its first fields.
 * @returns `00-TRACE-PARENT-FLAGS`; `undefined` for a malformed text, which a receiver ignores
 */
export function readTrace(text: string): string | undefined {
  const [, version, fields, rest] = FORM.exec(text) ?? [];
  if (fields === undefined || (version === "00" && rest !== undefined)) return undefined;
  return `00-${fields}`;
}
