import { type MethodDefinition, type ServiceError, status } from "@grpc/grpc-js";
import { MrlmError } from "@mrlm/spec";
import { errorOfStatus, isConnectionLoss, isServiceError, reasonOf, type StatusCodes } from "@mrlm/wire";
import { abortError, onAbort, pause } from "./aborts.ts";
import { Backoff } from "./backoff.ts";
import type { Channel } from "./channel.ts";
import { connectionLoss } from "./connection-loss.ts";

/** Server at the other end of a {@link Connection}. */
export interface Peer extends StatusCodes {
  readonly address: string;
  /** Opens a channel. Each attempt to connect uses a new one, so that the backoff inside gRPC never applies. */
  open(): Channel;
  /**
   * Resolves when the server answers. Rejects with a connection loss, which leads to another attempt, or with the error of every
   * waiting call. An aborted signal ends the probe.
   */
  probe(channel: Channel, signal: AbortSignal): Promise<void>;
  /** Called when an established channel is lost. */
  readonly onLost?: (() => void) | undefined;
  /** Returns the reason why no connection to this server can succeed, if there is one. Called after failed attempts before the first success. */
  fault?(): Promise<MrlmError | undefined>;
  /** Replaces credentials that the server has refused. @returns whether another attempt may succeed */
  renew?(): boolean;
}

/** Limits of one call. */
export interface CallOptions {
  /** Each of them ends the call, on the wire too. */
  readonly signals?: readonly AbortSignal[];
  /** Longest wait for a server that cannot be reached, in milliseconds. 0: the call is made once. */
  readonly waitMs: number;
  /** W3C Trace Context, which the call carries as metadata. */
  readonly trace?: string | undefined;
}

interface Waiting {
  readonly resolve: (channel: Channel) => void;
  readonly reject: (error: unknown) => void;
}

/** Longest attempt to connect: packets to a machine that is gone are lost without an error. */
const ATTEMPT_MS = 20_000;
/** An attempt that takes longer was not refused: the server is silent. */
const SILENT_MS = 100;
const SILENT = "it answers nothing, as a process that is blocked or stopped";
/** The outage before a channel is over when the channel has existed for this long. */
const STABLE_MS = 5_000;
/** Connection losses of one call. A call that loses its connection this often is itself the cause. */
const MAX_LOSSES = 20;

/**
 * Connection to one server. It owns all retries after a connection loss: calls that lose their channel wait for the next one, and one
 * sequence of attempts with growing pauses serves all of them.
 */
export class Connection {
  readonly #peer: Peer;
  readonly #pause: typeof pause;
  readonly #backoff = new Backoff();
  readonly #closing = new AbortController();
  readonly #waiting = new Set<Waiting>();
  #channel: Channel | undefined;
  #connectedAt = 0;
  #hasConnected = false;
  /** Latest failure; `undefined` before the first attempt, which needs no pause. */
  #failure: unknown;
  /** Time at which the first call began to wait in the present outage. */
  #failingSince: number | undefined;
  #attempt: { readonly startedAt: number; readonly controller: AbortController } | undefined;
  #isConnecting = false;

  /** @param wait replaces the pauses between attempts, for tests */
  constructor(peer: Peer, wait: typeof pause = pause) {
    this.#peer = peer;
    this.#pause = wait;
  }

  get address(): string {
    return this.#peer.address;
  }

  get isConnected(): boolean {
    return this.#channel !== undefined;
  }

  /** Reason of the latest failure to reach the server. */
  get failure(): string {
    return reasonOf((this.#failure as ServiceError | undefined)?.details ?? SILENT);
  }

  /** Makes a unary call. Repeats it after connection losses. */
  unary<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    options: CallOptions,
  ): Promise<Response> {
    return this.call((channel) => channel.unary(method, request, options.signals ?? [], options.trace), options);
  }

  /** Makes a call. After a connection loss it is made again on the next channel. */
  async call<T>(attempt: (channel: Channel) => Promise<T>, options: CallOptions): Promise<T> {
    for (let losses = 1; ; losses++) {
      const channel = await this.reach(options);
      try {
        const result = await attempt(channel);
        this.confirm(channel);
        return result;
      } catch (error) {
        const isRefused = this.renews(error);
        if (!isRefused && !isConnectionLoss(error)) throw this.errorOf(error);
        if (isRefused) await this.#pause(this.#backoff.next(), [this.#closing.signal], "The wait for a token");
        else this.lost(channel, error);
        if (losses >= MAX_LOSSES) throw this.errorOf(error);
      }
    }
  }

  /** Returns the channel to the server. While there is none, waits for one. */
  async reach({ signals = [], waitMs }: CallOptions): Promise<Channel> {
    const ends = [...signals, this.#closing.signal];
    for (const signal of ends) if (signal.aborted) throw this.#ended(signal);
    if (this.#channel !== undefined) return this.#channel;
    if (waitMs === 0 && this.#failure !== undefined) throw this.errorOf(this.#failure);
    const now = performance.now();
    this.#failingSince ??= now;
    const left = Math.max(0, this.#failingSince + waitMs - now);
    const { promise, resolve, reject } = Promise.withResolvers<Channel>();
    const waiting: Waiting = { resolve, reject };
    this.#waiting.add(waiting);
    const timer = setTimeout(() => reject(this.#unreachable(waitMs)), left);
    const remove = onAbort(ends, (signal) => reject(this.#ended(signal)));
    void this.#connect();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      remove();
      this.#waiting.delete(waiting);
      if (this.#channel === undefined && this.#waiting.size === 0) this.#rest();
    }
  }

  /** Reports that a call lost this channel. */
  lost(channel: Channel, loss: unknown): void {
    if (this.#channel !== channel) return;
    this.#channel = undefined;
    this.#failure = loss;
    channel.close();
    if (performance.now() - this.#connectedAt > STABLE_MS) this.#recovered();
    this.#peer.onLost?.();
  }

  /** Reports that the server answered on this channel: the outage before is over. */
  confirm(channel: Channel): void {
    if (this.#channel === channel) this.#recovered();
  }

  /** Replaces credentials that a call was refused for. @returns whether another attempt may succeed */
  renews(error: unknown): boolean {
    return (error as ServiceError).code === status.UNAUTHENTICATED && this.#peer.renew?.() === true;
  }

  /** Returns the error of a failed call: the server's own error, or an error for the status of gRPC. */
  errorOf(error: unknown): Error {
    return error instanceof Error && !isServiceError(error) ? error : errorOfStatus(error, this.#peer);
  }

  /** Ends every waiting call. */
  close(): void {
    this.#closing.abort();
    this.#attempt?.controller.abort();
    this.#channel?.close();
    this.#channel = undefined;
  }

  /** Reconnects while calls wait. No other code reconnects. */
  async #connect(): Promise<void> {
    if (this.#isConnecting) return;
    this.#isConnecting = true;
    try {
      while (this.#waiting.size > 0) {
        if (this.#failure !== undefined)
          await this.#pause(this.#backoff.next(), [this.#closing.signal], "The wait for a server");
        if (this.#waiting.size > 0) await this.#tryOnce();
      }
    } catch {
      // The connection was closed during a pause; that has ended the waiting calls.
    } finally {
      this.#isConnecting = false;
    }
  }

  async #tryOnce(): Promise<void> {
    const channel = this.#peer.open();
    const controller = new AbortController();
    const { signal } = controller;
    const timer = setTimeout(() => controller.abort(), ATTEMPT_MS);
    this.#attempt = { startedAt: performance.now(), controller };
    try {
      await this.#peer.probe(channel, signal);
      signal.throwIfAborted();
      this.#channel = channel;
      this.#hasConnected = true;
      this.#connectedAt = performance.now();
      this.#settle(({ resolve }) => resolve(channel));
    } catch (error) {
      channel.close();
      this.#failure = signal.aborted ? connectionLoss(SILENT) : ((await this.#fault(error)) ?? error);
      if (!isConnectionLoss(this.#failure)) this.#settle(({ reject }) => reject(this.errorOf(this.#failure)));
    } finally {
      clearTimeout(timer);
      this.#attempt = undefined;
    }
  }

  /** Returns the reason why no attempt can succeed. After a success the operator may repair it while calls wait. */
  async #fault(error: unknown): Promise<MrlmError | undefined> {
    return this.#hasConnected || !isConnectionLoss(error) ? undefined : await this.#peer.fault?.();
  }

  #settle(settle: (waiting: Waiting) => void): void {
    for (const waiting of this.#waiting) settle(waiting);
    this.#waiting.clear();
  }

  #unreachable(waitedMs: number): MrlmError {
    const isSilent = this.#attempt !== undefined && performance.now() - this.#attempt.startedAt > SILENT_MS;
    const reason = isSilent ? SILENT : this.failure;
    return new MrlmError(
      this.#peer.unavailable,
      `${this.#peer.peer} could not be reached for ${waitedMs} ms: ${reason}`,
      { isRetryable: false, cause: this.#failure },
    );
  }

  /** Ends the attempt when no call waits any more. The next call may wait for its full time. */
  #rest(): void {
    this.#recovered();
    this.#attempt?.controller.abort();
  }

  #recovered(): void {
    this.#failingSince = undefined;
    this.#backoff.reset();
  }

  #ended(signal: AbortSignal): Error {
    return abortError(`A call to ${this.address}`, signal);
  }
}
