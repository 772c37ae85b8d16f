const KEYS = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
] as const;
/** Characters. */
const MAX_TEXT = 1_000_000;

/** Of an isolate's `URL`: JSON text of the components, "" for what is no URL. An isolate can send anything; texts only go in and out. */
export function parseUrl(argsText: unknown): string {
  if (typeof argsText !== "string" || argsText.length > MAX_TEXT) return "";
  try {
    const args: unknown = JSON.parse(argsText);
    if (!Array.isArray(args) || !args.every((text) => typeof text === "string")) return "";
    const [input = "", base = "", property = "", value = ""] = args as readonly string[];
    const url = base === "" ? new URL(input) : new URL(input, base);
    const key = KEYS.find((known) => known === property);
    if (key !== undefined && key !== "origin") url[key] = value;
    return JSON.stringify(KEYS.map((name) => url[name]));
  } catch {
    return "";
  }
}
