/** Returns whether the locale uses UTF-8, by the rule of npm. Without a locale, macOS and Windows do. */
export function hasUnicode(env: NodeJS.ProcessEnv = process.env, platform: string = process.platform): boolean {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"];
  return locale ? /utf-?8$/i.test(locale) : platform !== "linux";
}

/** Returns the Unicode text if the locale uses UTF-8, else the ASCII text. */
export function glyph(unicode: string, ascii: string): string {
  return hasUnicode() ? unicode : ascii;
}
