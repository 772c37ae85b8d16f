/** Milliseconds without a line after which the last line is repeated. */
const INTERVAL_MS = 10_000;

/**
 * Runs `work` and repeats its last line during a long step, which shows that the work continues.
 *
 * @param report - called with the lines of the work and those of the heartbeat.
 */
export async function withHeartbeat<T>(
  report: (line: string) => void,
  work: (report: (line: string) => void) => Promise<T>,
): Promise<T> {
  let last = "";
  let since = Date.now();
  const beat = (): void => {
    if (last !== "") report(`${last} ... (${Math.round((Date.now() - since) / 1000)} s)`);
  };
  let timer = setInterval(beat, INTERVAL_MS);
  try {
    return await work((line) => {
      report(line);
      last = line;
      since = Date.now();
      clearInterval(timer);
      timer = setInterval(beat, INTERVAL_MS);
    });
  } finally {
    clearInterval(timer);
  }
}
