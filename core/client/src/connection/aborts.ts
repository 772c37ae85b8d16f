import { MrlmError } from "@mrlm/spec";

/** Returns the error of a call that one of its signals ended: the signal's reason if that is an `MrlmError`, else CANCELLED. */
export function abortError(what: string, signal: AbortSignal): MrlmError {
  const reason: unknown = signal.reason;
  return MrlmError.isInstance(reason)
    ? reason
    : new MrlmError("CANCELLED", `${what} was cancelled by its caller.`, { cause: reason });
}

type Callback = (signal: AbortSignal) => void;

/**
 * Callbacks by signal. Each signal has one listener, because thousands of sessions may share a signal and the cost of removing a
 * listener grows with their number.
 */
const waiting = new WeakMap<AbortSignal, Set<Callback>>();

/** Calls back once when any of the signals is aborted, at once if one is already. @returns removes the callback */
export function onAbort(signals: readonly AbortSignal[], callback: Callback): () => void {
  for (const signal of signals) {
    if (!signal.aborted) continue;
    callback(signal);
    return () => undefined;
  }
  for (const signal of signals) callbacksOf(signal).add(callback);
  return () => {
    for (const signal of signals) waiting.get(signal)?.delete(callback);
  };
}

function callbacksOf(signal: AbortSignal): Set<Callback> {
  const known = waiting.get(signal);
  if (known !== undefined) return known;
  const callbacks = new Set<Callback>();
  waiting.set(signal, callbacks);
  signal.addEventListener(
    "abort",
    () => {
      for (const callback of [...callbacks]) callback(signal);
    },
    { once: true },
  );
  return callbacks;
}

/** Waits; rejects when a signal is aborted before the end. */
export async function pause(milliseconds: number, signals: readonly AbortSignal[], what: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  const remove = onAbort(signals, (signal) => reject(abortError(what, signal)));
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    remove();
  }
}
