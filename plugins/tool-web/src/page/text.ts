/** Characters that are not visible and can hide text or change its order: controls, soft hyphens, zero-width spaces, overrides of direction, tags. */
const INVISIBLE =
  /[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f\u00ad\u200b\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Removes invisible characters and unifies ends of lines. Lone surrogates become U+FFFD. */
export const visibleText = (text: string): string =>
  text
    .toWellFormed()
    .replace(INVISIBLE, "")
    .replace(/\r\n?|[\f\u2028\u2029]/g, "\n");

/** Replaces each run of white space, also of no-break spaces, by one space. */
export const collapseSpaces = (text: string): string => visibleText(text).replace(/\s+/g, " ");
