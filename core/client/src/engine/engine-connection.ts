import { type ChannelOptions, type ClientDuplexStream, Metadata, type MethodDefinition } from "@grpc/grpc-js";
import { type ErrorCode, MrlmError } from "@mrlm/spec";
import { ENGINE_SERVICE, SAMPLER_SERVICE } from "@mrlm/wire";
import { onAbort, pause } from "../connection/aborts.ts";
import { authorize } from "../connection/authorization.ts";
import { Channel } from "../connection/channel.ts";
import { checkAddress } from "../connection/check-address.ts";
import { Connection } from "../connection/connection.ts";
import { channelSecurity, type ClientTls } from "../connection/tls.ts";
import { tlsFault } from "../connection/tls-fault.ts";

/** Longest wait of a call for an engine that cannot be reached. */
const WAIT_MS = 4_000;
/**
 * Longest wait for the end of a process that cannot be reached, where the end will be reported. With several ranks, rank 0 serves the
 * engine and may end before the rank that failed.
 */
const ENDING_MS = 60_000;

/** Kind of process at the other end. */
interface EngineKind {
  /** Name for people, before the address. */
  readonly name: string;
  readonly unavailable: ErrorCode;
  readonly failed: ErrorCode;
  /** Code of a call to another process than the one that the connection is bound to. */
  readonly exited: ErrorCode;
  /** Call whose answer identifies the process. */
  describe(channel: Channel, signals: readonly AbortSignal[]): Promise<{ readonly instanceId: string }>;
  /** Longest wait of a call for a process that cannot be reached. */
  readonly waitMs: number;
  readonly options: ChannelOptions;
}

/** An engine, which trains: a call waits for it. */
export const TRAINING_ENGINE: EngineKind = {
  name: "The engine",
  unavailable: "ENGINE_UNAVAILABLE",
  failed: "ENGINE_FAILED",
  exited: "ENGINE_EXITED",
  describe: (channel, signals) => channel.unary(ENGINE_SERVICE.describe, {}, signals),
  waitMs: WAIT_MS,
  options: {},
};

/** One of several samplers: calls wait briefly, and one that is stopped is found by pings. */
export const POOLED_SAMPLER: EngineKind = {
  name: "The sampler",
  unavailable: "SAMPLER_UNAVAILABLE",
  failed: "ENGINE_FAILED",
  exited: "SAMPLER_UNAVAILABLE",
  describe: (channel, signals) => channel.unary(SAMPLER_SERVICE.describe, {}, signals),
  waitMs: 2_000,
  options: { "grpc.keepalive_time_ms": 10_000, "grpc.keepalive_timeout_ms": 10_000 },
};

/** Connection to one engine process. Calls continue after a connection loss, but not after a restart of the engine. */
export class EngineConnection {
  readonly #connection: Connection;
  readonly #kind: EngineKind;
  readonly #lost: AbortSignal | undefined;
  /** Signals that end every call: `lost`, where there is one. */
  readonly #ends: readonly AbortSignal[];
  #instanceId: string | undefined;

  /**
   * @param lost aborted, with the cause as its reason, when the engine process is known to have ended
   * @param token of the engine
   * @param tls of a process behind TLS; default: plain TCP
   * @throws MrlmError CONFIG_INVALID for an address without a port, and for certificates that cannot be used
   */
  constructor(
    address: string,
    {
      lost,
      token,
      tls,
      kind = TRAINING_ENGINE,
    }: {
      readonly lost?: AbortSignal;
      readonly token?: string;
      readonly tls?: ClientTls;
      readonly kind?: EngineKind;
    },
  ) {
    checkAddress(address);
    this.#kind = kind;
    const metadata = authorize(new Metadata(), token);
    const security = channelSecurity(address, tls);
    this.#lost = lost;
    this.#ends = lost === undefined ? [] : [lost];
    this.#connection = new Connection({
      address,
      peer: `${kind.name} at ${address}`,
      unavailable: kind.unavailable,
      failed: kind.failed,
      open: () => new Channel(address, metadata, { ...kind.options, ...security.options }, security.credentials),
      probe: (channel, signal) => this.#assertSameEngine(channel, signal),
      ...(tls === undefined ? {} : { fault: () => tlsFault(address, tls) }),
    });
  }

  /** Binds the connection to this engine process: another process does not hold its models. */
  bindTo(instanceId: string): void {
    this.#instanceId = instanceId;
  }

  /** Makes a unary call, again after connection losses. */
  unary<Request, Response>(method: MethodDefinition<Request, Response>, request: Request): Promise<Response> {
    return this.call((channel) => channel.unary(method, request, this.#ends));
  }

  /** Makes a call. Repeats it on the next channel after a connection loss. */
  async call<T>(attempt: (channel: Channel) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      return await this.#connection.call(attempt, { waitMs: this.#kind.waitMs, signals: this.#endsOr(signal) });
    } catch (error) {
      throw await this.#causeOf(error);
    }
  }

  /** Returns the channel to the engine. While there is none, waits for one. */
  async reach(): Promise<Channel> {
    try {
      return await this.#connection.reach({ waitMs: this.#kind.waitMs, signals: this.#ends });
    } catch (error) {
      throw await this.#causeOf(error);
    }
  }

  /** Opens a stream, which ends with the engine. */
  open<Request, Response>(
    channel: Channel,
    method: MethodDefinition<Request, Response>,
  ): ClientDuplexStream<Request, Response> {
    const stream = channel.duplex(method);
    stream.on(
      "close",
      onAbort(this.#ends, () => stream.cancel()),
    );
    return stream;
  }

  /** Reports that a stream lost this channel. */
  lost(channel: Channel, loss: unknown): void {
    this.#connection.lost(channel, loss);
  }

  /** Reports that the engine answered on this channel. */
  confirm(channel: Channel): void {
    this.#connection.confirm(channel);
  }

  /** Returns the error of a failed call: the reason for which the engine ended, its own error, or an error for the status of gRPC. */
  errorOf(error: unknown): Error {
    return this.#lost?.aborted === true ? (this.#lost.reason as Error) : this.#connection.errorOf(error);
  }

  close(): void {
    this.#connection.close();
  }

  /** Waits for the report of the engine's end where the engine cannot be reached. */
  async #causeOf(failure: unknown): Promise<Error> {
    if (this.#lost?.aborted === false && MrlmError.hasCode(failure, "ENGINE_UNAVAILABLE"))
      await pause(ENDING_MS, this.#ends, "A call").catch(() => undefined);
    return this.errorOf(failure);
  }

  #endsOr(signal: AbortSignal | undefined): readonly AbortSignal[] {
    return signal === undefined ? this.#ends : [...this.#ends, signal];
  }

  async #assertSameEngine(channel: Channel, signal: AbortSignal): Promise<void> {
    const { describe, exited, name } = this.#kind;
    const { instanceId } = await describe(channel, [...this.#ends, signal]);
    if (this.#instanceId === undefined || instanceId === this.#instanceId) return;
    throw new MrlmError(
      exited,
      `${name} at ${this.#connection.address} was restarted: the models that it held are gone.`,
    );
  }
}
