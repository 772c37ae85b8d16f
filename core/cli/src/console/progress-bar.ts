import type { Console } from "./console.ts";

/** A line that is redrawn in place on a terminal; elsewhere a plain line now and then. */
export interface ProgressBar {
  update(done: number, total: number, text: string): void;
  /** Takes the line away, so that something else can be written. */
  clear(): void;
}

const BAR_WIDTH = 24;
/** Milliseconds between lines where there is no terminal. */
const PLAIN_INTERVAL = 15_000;

export function progressBar(console: Console, label: string): ProgressBar {
  let lastPlain = Number.NEGATIVE_INFINITY;
  let shown = false;
  return {
    update(done, total, text) {
      if (console.isInteractive) {
        const filled = total === 0 ? 0 : Math.round((BAR_WIDTH * done) / total);
        const line = `${label} ${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)} ${done}/${total}  ${text}`;
        console.stderr.write(`\r\u001b[2K${line.slice(0, (console.stderr.columns ?? 120) - 1)}`);
        shown = true;
      } else if (!console.json && (performance.now() - lastPlain > PLAIN_INTERVAL || done === total)) {
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
