import type { ClientDuplexStream, Metadata, MethodDefinition, ServiceError } from "@grpc/grpc-js";
import { MrlmError } from "@mrlm/spec";
import { errorOfStatus, isConnectionLoss, reasonOf } from "@mrlm/wire";
import { pause } from "../connection/aborts.ts";
import { Backoff } from "../connection/backoff.ts";
import { Channel, type DuplexMethod } from "../connection/channel.ts";

/** A call of one method. */
export interface CallOptions {
  /** Each of them ends the call, on the wire too. */
  readonly signals?: readonly AbortSignal[];
  /** How long a call is made again after connection losses, in milliseconds. */
  readonly retryMs: number;
}

/** A channel to an environment server, with calls that outlive a lost connection. */
export class ServerConnection {
  readonly #peer: string;
  readonly #channel: Channel;
  /** Calls that wait for the server need not wait any more. */
  readonly #closing = new AbortController();

  constructor(address: string, metadata: Metadata) {
    this.#peer = `The environment server at ${address}`;
    this.#channel = new Channel(address, metadata, {
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": 1_000,
      // Finds out that the server's machine is gone while calls wait for it.
      "grpc.keepalive_time_ms": 30_000,
      "grpc.keepalive_timeout_ms": 10_000,
      // A call that must not be repeated blindly is never repeated by the channel itself.
      "grpc.enable_retries": 0,
      // A connection of its own, and no waiting for a channel that another client has given up.
      "grpc.use_local_subchannel_pool": 1,
      // Large messages need not wait for the window to be opened in small steps.
      "grpc-node.flow_control_window": 8 << 20,
    });
  }

  get address(): string {
    return this.#channel.address;
  }

  /** A unary call, made again while the connection is lost. */
  async unary<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    options: CallOptions,
  ): Promise<Response> {
    const backoff = new Backoff();
    const started = performance.now();
    for (;;) {
      try {
        return await this.#channel.unary(method, request, options.signals ?? []);
      } catch (error) {
        const left = options.retryMs - (performance.now() - started);
        if (!isConnectionLoss(error) || this.#closing.signal.aborted) throw this.errorOf(error);
        if (left <= 0) throw options.retryMs > 0 ? this.outOfPatience(error, options.retryMs) : this.errorOf(error);
        await pause(
          Math.min(backoff.next(), left),
          [...(options.signals ?? []), this.#closing.signal],
          `A call to ${this.address}`,
        );
      }
    }
  }

  /** A stream in both directions. */
  duplex<Sent, Received>(method: DuplexMethod<Sent, Received>): ClientDuplexStream<Sent, Received> {
    return this.#channel.duplex(method);
  }

  errorOf(error: unknown): MrlmError {
    return errorOfStatus(error, { unavailable: "SERVER_UNAVAILABLE", failed: "INTERNAL", peer: this.#peer });
  }

  /** A server that was waited for in vain: whoever asked need not wait as long again. */
  outOfPatience(cause: unknown, retryMs: number): MrlmError {
    const details =
      cause instanceof Error ? ((cause as Partial<ServiceError>).details ?? cause.message) : "it ended the stream";
    return new MrlmError(
      "SERVER_UNAVAILABLE",
      `${this.#peer} could not be reached for ${retryMs} ms: ${reasonOf(details)}`,
      { isRetryable: false, cause },
    );
  }

  close(): void {
    this.#closing.abort();
    this.#channel.close();
  }
}
