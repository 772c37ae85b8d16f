import type { JsonObject, JsonValue, Logger } from "@mrlm/spec";

/** Logger of plugins that writes lines for people: `warn: MESSAGE (field: 1)`. Lines for debugging are left out unless MRLM_DEBUG is set. */
export function lineLogger(say: (line: string) => void): Logger {
  const at =
    (level: string) =>
    (message: string, fields?: JsonObject): void =>
      say(`${level}: ${message}${shown(fields)}`);
  return {
    debug: process.env["MRLM_DEBUG"] === undefined ? () => undefined : at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  };
}

/** A line with one level: that of its logger, or else `note`. */
export function withLevel(line: string): string {
  return /^(?:environment server: )?(?:debug|info|warn|error): /.test(line) ? line : `note: ${line}`;
}

function shown(fields: JsonObject = {}): string {
  const members = Object.entries(fields).map(([name, value]) => `${name}: ${plain(value)}`);
  return members.length === 0 ? "" : ` (${members.join(", ")})`;
}

/** A line stays one line: what is no text, or has several lines, is JSON. */
function plain(value: JsonValue | undefined): string {
  return typeof value === "string" && !/[\r\n]/.test(value) ? value : JSON.stringify(value);
}
