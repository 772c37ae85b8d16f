import type { Console } from "./console.ts";
import { glyph } from "./unicode.ts";

/** Progress line: redrawn in place on a terminal, elsewhere printed at the first step and the end. A timer repeats it until the end, so that it is never out of date. */
export interface ProgressBar {
  /** Shows a step. Functions are computed again for each line. */
  update(done: number | (() => number), total: number, text: string | (() => string)): void;
  /** Removes the line, so that another can be printed. */
  clear(): void;
  /** Removes the line and stops the timer, until the next update. */
  end(): void;
}

const BAR_WIDTH = 24;
/** Terminals below this width get a short bar, so that the metrics fit. */
const NARROW = 100;
/** Milliseconds between lines on a terminal, and elsewhere. */
const INTERVALS = { terminal: 1000, plain: 15_000 };

/**
 * @param options.isBrief without a terminal: no line at the start and the end, for work with a printed result
 * @param options.intervals for tests
 */
export function progressBar(
  console: Console,
  label: string,
  { isBrief = false, intervals = INTERVALS } = {},
): ProgressBar {
  let draw: () => void;
  let timer: NodeJS.Timeout | undefined;
  let isPrinted = isBrief;
  let isShown = false;
  const print = (done: number, total: number, text: string): void => {
    if (!console.isInteractive) {
      isPrinted = true;
      return console.note(`${label} ${done}/${total}  ${text}`);
    }
    const columns = (console.stderr.columns ?? 120) - 1;
    const width = columns < NARROW ? BAR_WIDTH / 3 : BAR_WIDTH;
    const filled = total === 0 ? 0 : Math.round((width * done) / total);
    const drawn = `${label} ${glyph("█", "#").repeat(filled)}${glyph("░", "-").repeat(width - filled)} ${done}/${total}  ${text}`;
    console.stderr.write(`\r\u001b[2K${fitted(drawn, columns)}`);
    isShown = true;
  };
  const clear = (): void => {
    if (isShown) console.stderr.write("\r\u001b[2K");
    isShown = false;
  };
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  return {
    update(given, total, text) {
      if (console.json && !console.isInteractive) return;
      const now = (): number => (typeof given === "number" ? given : given());
      draw = () => print(now(), total, typeof text === "string" ? text : text());
      const done = now();
      if (done < total)
        timer ??= setInterval(() => draw(), console.isInteractive ? intervals.terminal : intervals.plain).unref();
      else stop();
      if (console.isInteractive || (done > 0 && !isPrinted) || (done === total && !isBrief)) draw();
    },
    clear,
    end() {
      clear();
      stop();
    },
  };
}

/** Shortens a line to the width at a gap of two spaces, so that no part is cut. */
function fitted(line: string, columns: number): string {
  if (line.length <= columns) return line;
  const end = line.lastIndexOf("  ", columns);
  return line.slice(0, end > 0 ? end : columns);
}
