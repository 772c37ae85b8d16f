// Runs inside an isolate, which receives the text of this function: the function must not use anything else of this module.
import type { Inspector } from "./inspector.ts";

/** Installs a console that writes lines, as Node's does. */
export function installConsole(
  { format, inspect }: Inspector,
  write: (stream: "stdout" | "stderr", text: string) => void,
): void {
  const { now } = Date;
  const counts = new Map<string, number>();
  const starts = new Map<string, number>();
  const noArguments = (values: unknown[]): string => (values.length === 0 ? "" : format(...values));
  let indent = "";
  const line = (stream: "stdout" | "stderr", text: string): void =>
    write(stream, `${indent}${indent === "" ? text : text.replaceAll("\n", `\n${indent}`)}\n`);
  const out = (...values: unknown[]): void => line("stdout", noArguments(values));
  const err = (...values: unknown[]): void => line("stderr", noArguments(values));
  const group = (...values: unknown[]): void => {
    if (values.length > 0) out(...values);
    indent += "  ";
  };
  const elapsed = (label: string): string => `${label}: ${now() - (starts.get(label) ?? now())}ms`;
  const methods = {
    log: out,
    info: out,
    debug: out,
    table: out,
    dir: (value: unknown, options?: object) =>
      out(options === undefined ? inspect(value) : inspect(value, { customInspect: false, ...options })),
    error: err,
    warn: err,
    trace: (...values: unknown[]) => err("Trace:", ...values),
    assert: (condition: unknown, ...values: unknown[]) => {
      if (!condition) err(`Assertion failed${values.length === 0 ? "" : `: ${format(...values)}`}`);
    },
    count: (label = "default") => {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      out(`${label}: ${counts.get(label)}`);
    },
    countReset: (label = "default") => void counts.delete(label),
    time: (label = "default") => void starts.set(label, now()),
    timeLog: (label = "default") => out(elapsed(label)),
    timeEnd: (label = "default") => {
      out(elapsed(label));
      starts.delete(label);
    },
    group,
    groupCollapsed: group,
    groupEnd: () => void (indent = indent.slice(2)),
  };
  Object.defineProperty(globalThis, "console", {
    value: methods,
    configurable: true,
    enumerable: false,
    writable: true,
  });
}
