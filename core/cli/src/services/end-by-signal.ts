const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Cleanups, which one listener of each signal calls. */
const cleanups = new Set<() => void>();

/**
 * Calls a function before a signal ends this process, for which Node emits no `exit`. A command that listens to the signal ends by itself.
 * @returns a function that takes it back
 */
export function beforeEndBySignal(cleanup: () => void): () => void {
  if (cleanups.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal);
  cleanups.add(cleanup);
  return () => {
    cleanups.delete(cleanup);
    if (cleanups.size === 0) for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}

function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  for (const cleanup of cleanups) cleanup();
  process.off(signal, onSignal);
  // Without a listener the signal ends the process, as its parent expects.
  process.kill(process.pid, signal);
}
