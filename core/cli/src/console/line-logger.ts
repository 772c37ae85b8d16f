import type { JsonObject, Logger } from "@mrlm/spec";

/** What plugins log, as lines for people: `warn: MESSAGE {"field":1}`. What is for debugging is left out unless MRLM_DEBUG is set. */
export function lineLogger(say: (line: string) => void): Logger {
  const at = (level: string) => (message: string, fields?: JsonObject): void => say(`${level}: ${message}${fields === undefined ? "" : ` ${JSON.stringify(fields)}`}`);
  return { debug: process.env["MRLM_DEBUG"] === undefined ? () => undefined : at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
