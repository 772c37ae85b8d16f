import { type Logger, MrlmError } from "@mrlm/spec";
import type { Console } from "../console/console.ts";
import { lineLogger } from "../console/line-logger.ts";
import type { ServeOptions } from "../declarations/serve.ts";
import type { MetricsEndpoint } from "./metrics-endpoint.ts";

/** Returns the logger of a server, on stderr. */
export async function serverLogger({ log }: Partial<ServeOptions>, console: Console): Promise<Logger> {
  if (log !== "json") return lineLogger((line) => console.note(line));
  const { jsonLogger } = await import("../console/json-logger.ts");
  return jsonLogger(console.stderr);
}

/** Returns the console of a server. With `--log json` its notes are lines of the log too. */
export function serverConsole({ log }: Partial<ServeOptions>, console: Console, logger: Logger): Console {
  if (log !== "json") return console;
  return { ...console, note: (text) => logger[text.startsWith("error ") ? "error" : "info"](text.trim()) };
}

/** Returns a function for the output of workers. Their own log lines are passed on as they are; other lines get the name of the worker. */
export function workerOutput(
  { log }: Partial<ServeOptions>,
  console: Console,
  logger: Logger,
): (name: string, line: string) => void {
  if (log !== "json") return (name, line) => console.note(`${name}: ${line}`);
  return (name, line) => {
    if (line.startsWith('{"level":') && isJson(line)) console.note(line);
    else logger.info(`${name}: ${line}`);
  };
}

/** A line that is too long has been cut. */
function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** Serves the metrics of this process if the flags ask for it. Rejects with USAGE, PORT_IN_USE or CONFIG_INVALID. */
export async function startMetrics(options: Partial<ServeOptions>): Promise<MetricsEndpoint | undefined> {
  const { metricsPort, metricsHost } = options;
  if (metricsPort === undefined) {
    if (metricsHost === undefined) return undefined;
    throw new MrlmError("USAGE", "--metrics-host is the address of --metrics-port: give a port too.");
  }
  const { serveMetrics } = await import("./metrics-endpoint.ts");
  return serveMetrics(metricsHost ?? "127.0.0.1", metricsPort);
}
