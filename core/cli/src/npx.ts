/** How often to look whether npx is there, milliseconds. */
const LOOK_MS = 500;

/**
 * Calls `onGone` when the npx that started this command was ended by a signal: npm passes it to the shell in between, which ends without passing it on,
 * and the command would go on unseen.
 * @returns stops looking
 */
export function watchNpx(onGone: () => void): () => void {
  const { npm_lifecycle_event: event, npm_lifecycle_script: script } = process.env;
  // Not what is below another command of npx, and perhaps meant to outlive it.
  if (event !== "npx" || !/^["']?mrlm\b/.test(script ?? "")) return () => undefined;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
