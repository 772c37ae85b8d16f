import { MrlmError } from "@mrlm/spec";

/** The error of a call that one of its signals ended: the signal's own reason where that is one of ours. */
export function abortError(what: string, signal: AbortSignal): MrlmError {
  const reason: unknown = signal.reason;
  return MrlmError.isInstance(reason)
    ? reason
    : new MrlmError("CANCELLED", `${what} was cancelled by its caller.`, { cause: reason });
}

type Callback = (signal: AbortSignal) => void;

/**
 * Who waits for each signal. A signal has one listener of ours, however many calls it is given to: thousands of sessions may share
 * one, and to take a listener off a signal takes as long as the signal has listeners.
 */
const waiting = new WeakMap<AbortSignal, Set<Callback>>();

/** Calls back once when any of the signals is aborted, at once if one is already. @returns makes it forget the callback */
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

/** Waits; rejects when a signal is aborted meanwhile. */
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
