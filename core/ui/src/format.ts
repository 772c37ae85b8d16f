/** Number for people: four digits, without trailing zeros. */
export function shown(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value)) return value.toLocaleString("en");
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

/** Time of a run for people, in the time zone of the browser. @param time as text, or in milliseconds since 1970 */
export function shownTime(time: string | number | null): string {
  return time === null ? "–" : new Date(time).toLocaleString();
}

/** Control characters, bidirectional marks and lone surrogates as visible escapes, so that text of a model cannot disguise itself. */
export function visible(text: string): string {
  return text.replaceAll(HIDDEN, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;
