import { Writable } from "node:stream";
import { type Console, createConsole } from "../../src/console/console.ts";

// The expected texts have Unicode characters; inLocale() selects another locale.
process.env["LC_ALL"] = "C.UTF-8";

/** Runs a function in another locale. */
export function inLocale(locale: string, run: () => void): void {
  const before = process.env["LC_ALL"];
  process.env["LC_ALL"] = locale;
  try {
    run();
  } finally {
    process.env["LC_ALL"] = before;
  }
}

/** Creates a console that records its output; `columns` makes it a terminal of that width. */
export function recordedConsole(options: { readonly json?: boolean; readonly columns?: number } = {}): {
  readonly console: Console;
  out(): string;
  err(): string;
} {
  const output = { out: "", err: "" };
  const sink = (name: keyof typeof output): Writable =>
    new Writable({ write: (chunk, _, done) => ((output[name] += String(chunk)), done()) });
  const stderr = Object.assign(
    sink("err"),
    options.columns === undefined ? {} : { isTTY: true, columns: options.columns },
  );
  return {
    console: {
      ...createConsole({ json: options.json ?? false, stdout: sink("out"), stderr }),
      isInteractive: options.columns !== undefined,
    },
    out: () => output.out,
    err: () => output.err,
  };
}
