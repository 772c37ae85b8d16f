import type { JsonObject, JsonValue, Logger } from "@mrlm/spec";

/**
 * Returns a logger of plugins that writes lines for people: `warn: MESSAGE (field: 1)`. Debug lines appear only if
 * MRLM_DEBUG is set.
 */
export function lineLogger(print: (line: string) => void): Logger {
  const at =
    (level: string) =>
    (message: string, fields?: JsonObject): void =>
      print(`${level}: ${message}${shown(fields)}`);
  return {
    debug: process.env["MRLM_DEBUG"] === undefined ? () => undefined : at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
  };
}

/** Prefixes a line with `note` unless its logger has prefixed a level. */
export function withLevel(line: string): string {
  return /^(?:environment server: )?(?:debug|info|warn|error): /.test(line) ? line : `note: ${line}`;
}

function shown(fields: JsonObject = {}): string {
  const members = Object.entries(fields).map(([name, value]) => `${name}: ${plain(value)}`);
  return members.length === 0 ? "" : ` (${members.join(", ")})`;
}

/** Formats a value on one line: as JSON unless it is text of one line. */
function plain(value: JsonValue | undefined): string {
  return typeof value === "string" && !/[\r\n]/.test(value) ? value : JSON.stringify(value);
}
