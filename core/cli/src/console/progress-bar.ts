import type { Console } from "./console.ts";
import { glyph } from "./unicode.ts";

/** Progress line: redrawn in place on a terminal, elsewhere printed every 15 seconds. */
export interface ProgressBar {
  update(done: number, total: number, text: string): void;
  /** Removes the line, so that another can be printed. */
  clear(): void;
}

const BAR_WIDTH = 24;
/** Terminals below this width get a short bar, so that the metrics fit. */
const NARROW = 100;
/** Milliseconds between lines where there is no terminal. */
const PLAIN_INTERVAL = 15_000;

/** @param options.isBrief without a terminal: no line at the start and the end, for work with a printed result */
export function progressBar(console: Console, label: string, { isBrief = false } = {}): ProgressBar {
  let lastPlain = isBrief ? performance.now() : Number.NEGATIVE_INFINITY;
  let shown = false;
  return {
    update(done, total, text) {
      if (console.isInteractive) {
        const columns = (console.stderr.columns ?? 120) - 1;
        const width = columns < NARROW ? BAR_WIDTH / 3 : BAR_WIDTH;
        const filled = total === 0 ? 0 : Math.round((width * done) / total);
        const line = `${label} ${glyph("█", "#").repeat(filled)}${glyph("░", "-").repeat(width - filled)} ${done}/${total}  ${text}`;
        console.stderr.write(`\r\u001b[2K${fitted(line, columns)}`);
        shown = true;
      } else if (!console.json && (performance.now() - lastPlain > PLAIN_INTERVAL || (done === total && !isBrief))) {
        lastPlain = performance.now();
        console.note(`${label} ${done}/${total}  ${text}`);
      }
    },
    clear() {
      if (shown) console.stderr.write("\r\u001b[2K");
      shown = false;
    },
  };
}

/** Shortens a line to the width at a gap of two spaces, so that no part is cut. */
function fitted(line: string, columns: number): string {
  if (line.length <= columns) return line;
  const end = line.lastIndexOf("  ", columns);
  return line.slice(0, end > 0 ? end : columns);
}
