/** Milliseconds between two checks. */
const CHECK_MS = 500;

/**
 * Calls `onExit` when a signal ended the npx that started this command. npm forwards the signal to the shell in between, which exits without
 * forwarding it, so the command would keep running in the background.
 * @returns a function that stops the checks
 */
export function watchNpx(onExit: () => void): () => void {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script } = process.env;
  // A command below another command of npx may be meant to outlive it.
  if (event !== "npx" || !/^["']?mrlm\b/.test(script ?? "")) return () => undefined;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onExit();
  }, CHECK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
