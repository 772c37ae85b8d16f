const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Functions that one listener of each event calls. */
const cleanups = new Set<() => void>();

/**
 * Calls a function before this process ends: by its exit, or by a signal, for which Node emits no `exit`. A command that listens to the signal ends by itself.
 * @returns a function that takes it back
 */
export function beforeEnd(cleanup: () => void): () => void {
  if (cleanups.size === 0) {
    for (const signal of SIGNALS) process.on(signal, onSignal);
    process.on("exit", callAll);
  }
  cleanups.add(cleanup);
  return () => {
    if (!cleanups.delete(cleanup) || cleanups.size > 0) return;
    for (const signal of SIGNALS) process.off(signal, onSignal);
    process.off("exit", callAll);
  };
}

function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  callAll();
  process.off(signal, onSignal);
  // Without a listener the signal ends the process, as its parent expects.
  process.kill(process.pid, signal);
}

function callAll(): void {
  for (const cleanup of [...cleanups]) cleanup();
}
