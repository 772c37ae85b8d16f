import { MrlmError } from "@mrlm/spec";

/**
 * Works for at most `ms` milliseconds. Rejects with BRIDGE_TIMEOUT, and with the reason of the signal, without waiting for the work; the work's signal is
 * aborted.
 * @param discard releases a result that comes after that
 */
export async function within<T>(
  { ms, what, signal }: { readonly ms: number; readonly what: string; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
  discard?: (late: T) => void,
): Promise<T> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (reason: unknown): void => {
    controller.abort(reason);
    reject(reason as Error);
  };
  const onAbort = (): void => stop(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(
    () => stop(new MrlmError("BRIDGE_TIMEOUT", `${what} took longer than ${ms} ms.`)),
    Math.max(0, ms),
  );
  try {
    const working = work(controller.signal);
    working.then(
      (value) => (controller.signal.aborted ? discard?.(value) : undefined),
      () => undefined,
    );
    return await Promise.race([working, promise]);
  } finally {
    promise.catch(() => undefined);
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Waits. Rejects with the reason of the signal. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const onAbort = (): void => reject(signal.reason as Error);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
