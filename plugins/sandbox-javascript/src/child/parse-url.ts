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
/** Maximum characters. */
const MAX_TEXT = 1_000_000;

/** Parses a URL for an isolate, which may send any value. Returns JSON text of the components, "" if it is not a URL. */
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
