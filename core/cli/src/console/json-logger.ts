import { currentCall } from "@mrlm/server/sessions";
import { defined, type JsonObject, type Logger } from "@mrlm/spec";
import { type DestinationStream, pino } from "pino";

/**
 * Returns a logger that writes one JSON object a line: `time`, `level`, `msg`, and the plugin's own fields under `fields`. A line that is written on behalf
 * of a call has its session, environment, client and trace.
 * @param worker number of the worker process
 */
export function jsonLogger(destination: DestinationStream, worker?: number): Logger {
  const log = pino(
    {
      base: worker === undefined ? null : { worker },
      level: "debug",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    destination,
  );
  const at =
    (level: "debug" | "info" | "warn" | "error") =>
    (message: string, fields?: JsonObject): void =>
      log[level]({ ...currentCall(), ...defined({ fields }) }, message);
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
