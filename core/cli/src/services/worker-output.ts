import type { Readable } from "node:stream";

/** Longest line that is forwarded, in characters. */
const LINE_LENGTH = 4_000;
/** Characters that are forwarded in a period; the rest is counted. */
const PERIOD_LENGTH = 64_000;
const PERIOD_MS = 10_000;

/**
 * Forwards one stream of a process's output, line by line and within limits, so that a plugin that prints without end slows no other process.
 * @returns a function to call when the process has ended
 */
export function forwardOutput(stream: Readable | null, print: (line: string) => void): () => void {
  let left = PERIOD_LENGTH;
  let omitted = 0;
  const period = setInterval(() => endPeriod(), PERIOD_MS).unref();
  const endPeriod = (): void => {
    if (omitted > 0) print(`(${omitted} more bytes of output are not shown)`);
    left = PERIOD_LENGTH;
    omitted = 0;
  };
  const forward = (line: string): void => {
    if (line === "") return;
    if (left <= 0) {
      omitted += line.length;
      return;
    }
    const shown = line.slice(0, LINE_LENGTH);
    left -= shown.length;
    print(shown.length < line.length ? `${shown}...` : shown);
  };
  let rest = "";
  stream?.setEncoding("utf8").on("data", (chunk: string) => {
    if (left <= 0) {
      omitted += chunk.length;
      return;
    }
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) forward(line);
    if (rest.length <= LINE_LENGTH) return;
    forward(rest);
    rest = "";
  });
  stream?.on("end", () => forward(rest));
  return () => {
    clearInterval(period);
    endPeriod();
  };
}
