/** Whether the locale is one of UTF-8, as npm decides it; macOS and Windows without a locale are. */
export function hasUnicode(env: NodeJS.ProcessEnv = process.env, platform: string = process.platform): boolean {
  const locale = env["LC_ALL"] || env["LC_CTYPE"] || env["LANG"];
  return locale ? /utf-?8$/i.test(locale) : platform !== "linux";
}

/** The first where the terminal shows Unicode, the second elsewhere. */
export function glyph(unicode: string, ascii: string): string {
  return hasUnicode() ? unicode : ascii;
}
