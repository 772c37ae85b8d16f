/** Condenses pip's output into a few progress lines. */
export interface PipProgress {
  /** Reads one line of pip's output, in the format of `--progress-bar raw`. */
  line(line: string): void;
}

/** Least milliseconds between two lines of one phase. */
const INTERVAL_MS = 3_000;

/**
 * @param step - name of the part that is being installed, for example `torch 2.13.0+cpu`.
 * @param report - called with the condensed lines.
 * @param now - clock in milliseconds.
 */
export function pipProgress(step: string, report: (line: string) => void, now: () => number = Date.now): PipProgress {
  let file = "";
  let packages = 0;
  let last = now();
  const write = (text: string): void => {
    last = now();
    report(`${step}: ${text}`);
  };
  const sayInTime = (text: () => string): void => {
    if (now() - last >= INTERVAL_MS) write(text());
  };
  return {
    line(line) {
      const collected = /^(?:Collecting|Processing) (\S+)/.exec(line)?.[1];
      const download = /^\s*Downloading (\S+) \(([^)]*)\)/.exec(line);
      const bytes = /^Progress (\d+) of (\d+)/.exec(line);
      const installing = /^Installing collected packages: (.*)/.exec(line)?.[1];
      if (collected !== undefined) {
        packages += 1;
        sayInTime(() => `${count(packages)} so far, now ${nameOf(collected)}`);
      } else if (download) {
        file = nameOf(download[1] ?? "");
        sayInTime(() => `downloading ${file} (${download[2]})`);
      } else if (bytes) {
        sayInTime(() => `downloading ${file}, ${percentage(Number(bytes[1]), Number(bytes[2]))}`);
      } else if (installing !== undefined) {
        write(`unpacking ${count(installing.split(", ").length)}`);
      }
    },
  };
}

/** Returns the name of the package in a requirement, or in the file name or path of a wheel. */
function nameOf(text: string): string {
  const file = text.split(/[/\\]/).at(-1) ?? text;
  return /^[A-Za-z0-9_.]+(?:-[A-Za-z_][A-Za-z0-9_.]*)*/.exec(file)?.[0] ?? file;
}

function count(packages: number): string {
  return packages === 1 ? "1 package" : `${packages} packages`;
}

function percentage(done: number, total: number): string {
  return `${total === 0 ? 100 : Math.floor((100 * done) / total)}% of ${Math.round(total / 1e6)} MB`;
}
