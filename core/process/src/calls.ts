import { MrlmError } from "@mrlm/spec";
import type { Channel } from "./channel.ts";
import { type ErrorRecord, fromErrorRecord, toErrorRecord } from "./error-record.ts";

/** Methods of the other side: arguments and results are data. */
export type Methods = object;
type Arguments<M, N extends keyof M> = M[N] extends (...args: infer A) => unknown ? A : never;
type Result<M, N extends keyof M> = M[N] extends (...args: never[]) => infer R ? Awaited<R> : never;

type Message =
  | {
      readonly type: "call";
      readonly id: number;
      readonly method: string;
      readonly args: readonly unknown[];
      /** The signal was aborted before the call. */
      readonly isAborted: boolean;
    }
  | { readonly type: "abort"; readonly id: number }
  | { readonly type: "event"; readonly id: number; readonly body: unknown }
  | { readonly type: "result"; readonly id: number; readonly value: unknown }
  | { readonly type: "error"; readonly id: number; readonly error: ErrorRecord }
  | { readonly type: "notice"; readonly body: unknown };

export interface CallOptions {
  /** Aborts the signal of the call on the other side. The call ends when that side answers. */
  readonly signal?: AbortSignal | undefined;
  /** Buffers among the arguments that a thread receives without a copy. */
  readonly moved?: readonly ArrayBuffer[];
  /** Receives what the other side sends before the result. */
  onEvent?(body: unknown): void;
}

interface Pending extends PromiseWithResolvers<unknown> {
  readonly onEvent: CallOptions["onEvent"];
}

/** Calls methods of the other side of a channel. */
export class Calls<M extends Methods> {
  readonly #channel: Channel;
  readonly #pending = new Map<number, Pending>();
  #last = 0;

  /** @param onNotice receives messages of the other side that belong to no call, in order with its answers */
  constructor(channel: Channel, onNotice: (body: unknown) => void = () => undefined) {
    this.#channel = channel;
    channel.onMessage((body) => this.#receive(body as Message, onNotice));
    channel.closed.addEventListener("abort", () => {
      for (const { reject } of this.#pending.values()) reject(channel.closed.reason);
      this.#pending.clear();
    });
  }

  /** Calls a method. Rejects with its error; where the other side is gone, with the reason of `closed`. */
  async call<N extends keyof M & string>(
    method: N,
    args: Arguments<M, N>,
    { signal, moved, onEvent }: CallOptions = {},
  ): Promise<Result<M, N>> {
    this.#channel.closed.throwIfAborted();
    const id = ++this.#last;
    const pending = { ...Promise.withResolvers<unknown>(), onEvent };
    const abort = (): void => this.#send({ type: "abort", id });
    this.#pending.set(id, pending);
    try {
      signal?.addEventListener("abort", abort, { once: true });
      this.#send({ type: "call", id, method, args, isAborted: signal?.aborted ?? false }, moved);
      return (await pending.promise) as Result<M, N>;
    } finally {
      this.#pending.delete(id);
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Sends a message that needs no answer, in order with the calls. */
  notify(body: unknown): void {
    this.#send({ type: "notice", body });
  }

  #send(message: Message, moved?: readonly ArrayBuffer[]): void {
    this.#channel.send(message, moved);
  }

  #receive(message: Message, onNotice: (body: unknown) => void): void {
    if (message.type === "notice") return onNotice(message.body);
    const pending = this.#pending.get(message.id);
    if (message.type === "event") pending?.onEvent?.(message.body);
    else if (message.type === "result") pending?.resolve(message.value);
    else if (message.type === "error") pending?.reject(fromErrorRecord(message.error));
  }
}

/** Call under way, on the side that answers it. */
export interface ServedCall {
  /** Aborts when the caller aborts the call, and when the caller is gone. */
  readonly signal: AbortSignal;
  /** Sends a message to the caller before the result. */
  send(body: unknown): void;
}

export interface ServeCallsOptions<M extends Methods> {
  /** Runs a method. Calls begin in order; one whose answer is a promise does not delay the next. */
  answer(method: keyof M & string, args: readonly unknown[], call: ServedCall): unknown;
  /** Receives messages of the caller that need no answer, in order with the calls. */
  onNotice?(body: unknown): void;
  /** Returns the error that the caller receives for one that `answer` threw. */
  toSent?(error: unknown): unknown;
}

/** Sends a message that belongs to no call. */
export type Notify = (body: unknown) => void;

/** Answers the calls of the other side of a channel, until that is gone. */
export function serveCalls<M extends Methods>(channel: Channel, options: ServeCallsOptions<M>): Notify {
  const { answer, onNotice, toSent = (error: unknown) => error } = options;
  const calls = new Map<number, AbortController>();
  const send = (message: Message): void => {
    if (!channel.closed.aborted) channel.send(message);
  };
  const abort = (controller: AbortController | undefined): void =>
    controller?.abort(new MrlmError("CANCELLED", "The caller aborted its call, or is gone."));
  const run = async ({ id, method, args, isAborted }: Message & { readonly type: "call" }): Promise<void> => {
    const controller = new AbortController();
    calls.set(id, controller);
    if (isAborted) abort(controller);
    const call: ServedCall = { signal: controller.signal, send: (body) => send({ type: "event", id, body }) };
    try {
      // A result that cannot be copied is an error too.
      send({ type: "result", id, value: await answer(method as keyof M & string, args, call) });
    } catch (error) {
      send({ type: "error", id, error: toErrorRecord(toSent(error)) });
    } finally {
      calls.delete(id);
    }
  };
  const remove = channel.onMessage((body) => {
    const message = body as Message;
    if (message.type === "call") void run(message);
    else if (message.type === "notice") onNotice?.(message.body);
    else if (message.type === "abort") abort(calls.get(message.id));
  });
  channel.closed.addEventListener("abort", () => {
    remove();
    for (const controller of calls.values()) abort(controller);
  });
  return (body) => send({ type: "notice", body });
}
