import { type ClientDuplexStream, Metadata, type MethodDefinition } from "@grpc/grpc-js";
import { MrlmError } from "@mrlm/spec";
import { ENGINE_SERVICE, errorOfStatus, isConnectionLoss, isServiceError } from "@mrlm/wire";
import { onAbort, pause } from "../connection/aborts.ts";
import { authorize } from "../connection/authorization.ts";
import { Channel } from "../connection/channel.ts";

/** How often, and with what pauses in milliseconds, a call is made again after its connection was lost. */
const RETRY_PAUSES = [50, 200, 500, 1_000, 2_000];
/**
 * How long a process that can no longer be reached has to end, where its end will be told: of several ranks the one that answers stops first, and the cause is known
 * when all have ended.
 */
const ENDING_MS = 60_000;

/** A channel to an engine: calls that outlive a lost connection but not a lost engine. */
export class EngineConnection {
  readonly address: string;
  readonly #channel: Channel;
  readonly #lost: AbortSignal | undefined;
  /** What ends every call: the same signal, where there is one. */
  readonly #ends: readonly AbortSignal[];
  #instanceId: string | undefined;

  /**
   * @param lost aborted, with the cause as its reason, when the engine process is known to be gone
   * @param token that the engine was started with
   */
  constructor(address: string, lost: AbortSignal | undefined, token: string | undefined) {
    this.address = address;
    this.#lost = lost;
    this.#ends = lost === undefined ? [] : [lost];
    this.#channel = new Channel(address, authorize(new Metadata(), token), {
      "grpc.initial_reconnect_backoff_ms": 50,
      "grpc.max_reconnect_backoff_ms": 1_000,
    });
  }

  /** Remembers which engine process this is: another one would know nothing of what this one held. */
  bindTo(instanceId: string): void {
    this.#instanceId = instanceId;
  }

  call<Request, Response>(method: MethodDefinition<Request, Response>, request: Request): Promise<Response> {
    return this.retrying(() => this.#once(method, request));
  }

  /** Makes an attempt again when the connection was lost under it and the same engine can be reached. */
  async retrying<T>(attempt: () => Promise<T>): Promise<T> {
    for (let attempts = 0; ; attempts++) {
      try {
        return await attempt();
      } catch (error) {
        if (this.#lost?.aborted) throw this.#lost.reason;
        if (!isConnectionLoss(error)) throw this.toError(error);
        const milliseconds = RETRY_PAUSES[attempts];
        if (milliseconds === undefined) {
          if (this.#lost !== undefined) await this.#pause(ENDING_MS);
          throw this.toError(error);
        }
        await this.#pause(milliseconds);
        await this.#assertSameEngine();
      }
    }
  }

  open<Request, Response>(method: MethodDefinition<Request, Response>): ClientDuplexStream<Request, Response> {
    if (this.#lost?.aborted) throw this.#lost.reason;
    const stream = this.#channel.duplex(method);
    stream.on(
      "close",
      onAbort(this.#ends, () => stream.cancel()),
    );
    return stream;
  }

  /** Rejects when the engine cannot be reached now. */
  async reach(): Promise<void> {
    await this.#once(ENGINE_SERVICE.describe, {});
  }

  /** What a failed call means: the engine's own error, what became of the engine, or what a loss of the caller's threw. */
  toError(error: unknown): Error {
    if (this.#lost?.aborted) return this.#lost.reason as Error;
    if (error instanceof Error && !isServiceError(error)) return error;
    return errorOfStatus(error, {
      unavailable: "ENGINE_UNAVAILABLE",
      failed: "ENGINE_FAILED",
      peer: `The engine at ${this.address}`,
    });
  }

  close(): void {
    this.#channel.close();
  }

  #once<Request, Response>(method: MethodDefinition<Request, Response>, request: Request): Promise<Response> {
    return this.#channel.unary(method, request, this.#ends);
  }

  #pause(milliseconds: number): Promise<void> {
    return pause(milliseconds, this.#ends, `A call to the engine at ${this.address}`);
  }

  async #assertSameEngine(): Promise<void> {
    if (this.#instanceId === undefined) return;
    let found: string;
    try {
      found = (await this.#once(ENGINE_SERVICE.describe, {})).instanceId;
    } catch (error) {
      if (isConnectionLoss(error)) return;
      throw this.toError(error);
    }
    if (found !== this.#instanceId)
      throw new MrlmError(
        "ENGINE_EXITED",
        `The engine at ${this.address} was restarted: the models that it held are gone.`,
      );
  }
}
