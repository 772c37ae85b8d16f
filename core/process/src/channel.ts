import type { ChildProcess, Serializable } from "node:child_process";
import type { MessagePort, Worker } from "node:worker_threads";

/** Connection of two processes or threads. Messages arrive in order, copied as by `structuredClone`. */
export interface Channel {
  /**
   * Sends a message; a closed channel drops it. Throws for a body that cannot be copied.
   * @param moved buffers that a thread receives without a copy
   */
  send(body: unknown, moved?: readonly ArrayBuffer[]): void;
  /** @returns a function that removes the listener */
  onMessage(listener: (body: unknown) => void): () => void;
  /** Aborts when the other side is gone, with an error as its reason. */
  readonly closed: AbortSignal;
}

/** Returns the channel to a thread, or the one of this thread to its starter (`parentPort`). */
export function threadChannel(port: Worker | MessagePort): Channel {
  const closed = new AbortController();
  const close = (cause?: unknown): void => closed.abort(new Error("The thread ended.", { cause }));
  port.on("error", close);
  port.on("exit", () => close());
  port.on("close", () => close());
  return {
    closed: closed.signal,
    send: (body, moved = []) => port.postMessage(body, moved),
    onMessage: (listener) => {
      port.on("message", listener);
      return () => void port.off("message", listener);
    },
  };
}

/** Returns the channel to a child process that was started with IPC, or that of this process to its parent (`process`), also when `process.send` is taken away. */
export function processChannel(other: ChildProcess | NodeJS.Process): Channel {
  const closed = new AbortController();
  const close = (): void => closed.abort(new Error("The process ended."));
  const post = other.send?.bind(other);
  other.on("disconnect", close);
  if (other !== process) (other as ChildProcess).on("exit", close).on("error", close);
  return {
    closed: closed.signal,
    send: (body) => {
      // A write that fails is reported by the end of the other side.
      if (other.connected) post?.(body as Serializable, undefined, {}, () => undefined);
    },
    onMessage: (listener) => {
      other.on("message", listener);
      return () => void other.off("message", listener);
    },
  };
}

/** Returns both ends of a channel within this thread. Messages arrive in microtasks. */
export function localChannel(): { readonly ends: readonly [Channel, Channel]; close(): void } {
  const closed = new AbortController();
  const listeners = [new Set<(body: unknown) => void>(), new Set<(body: unknown) => void>()] as const;
  const end = (own: 0 | 1): Channel => ({
    closed: closed.signal,
    send: (body, moved = []) => {
      const copy: unknown = structuredClone(body, { transfer: [...moved] });
      queueMicrotask(() => {
        if (!closed.signal.aborted) for (const listener of listeners[own === 0 ? 1 : 0]) listener(copy);
      });
    },
    onMessage: (listener) => {
      listeners[own].add(listener);
      return () => void listeners[own].delete(listener);
    },
  });
  return { ends: [end(0), end(1)], close: () => closed.abort(new Error("The channel was closed.")) };
}
