import { Client, type ClientDuplexStream, type Metadata, type MethodDefinition, type ServiceError, credentials } from "@grpc/grpc-js";
import { MrlmError } from "@mrlm/spec";
import { type StatusCodes, errorOfStatus, isConnectionLoss, reasonOf } from "@mrlm/wire";
import { abortError, onAbort, pause } from "./aborts.ts";
import { Backoff } from "./backoff.ts";
import { checkAddress } from "./check-address.ts";

/** A call of one method. */
export interface CallOptions {
  /** Each of them ends the call, on the wire too. */
  readonly signals?: readonly AbortSignal[];
  /** How long a call is made again after connection losses, in milliseconds. */
  readonly retryMs: number;
  /** Before a call is made again; what it throws ends the call. */
  readonly beforeRetry?: () => Promise<void>;
}

/** A channel to one server, with the calls that both clients make. Messages have no size limit on this side. */
export class Connection {
  readonly address: string;
  readonly codes: StatusCodes;
  readonly #client: Client;
  readonly #metadata: Metadata;

  constructor(address: string, codes: Omit<StatusCodes, "peer">, peer: string, metadata: Metadata) {
    this.address = checkAddress(address);
    this.codes = { ...codes, peer: `${peer} at ${address}` };
    this.#metadata = metadata;
    this.#client = new Client(address, credentials.createInsecure(), {
      "grpc.max_receive_message_length": -1,
      "grpc.max_send_message_length": -1,
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

  /** A unary call, made again while the connection is lost. */
  async unary<Request, Response>(method: MethodDefinition<Request, Response>, request: Request, options: CallOptions): Promise<Response> {
    const backoff = new Backoff();
    const started = performance.now();
    for (;;) {
      try {
        return await this.#unaryOnce(method, request, options.signals ?? []);
      } catch (error) {
        const left = options.retryMs - (performance.now() - started);
        if (!isConnectionLoss(error)) throw this.errorOf(error);
        if (left <= 0) throw options.retryMs > 0 ? this.outOfPatience(error, options.retryMs) : this.errorOf(error);
        await pause(Math.min(backoff.next(), left), options.signals ?? [], `A call to ${this.address}`);
        await options.beforeRetry?.();
      }
    }
  }

  /** A stream in both directions. */
  duplex<Sent, Received>(method: {
    readonly path: string;
    readonly requestSerialize: (message: Sent) => Buffer;
    readonly responseDeserialize: (bytes: Buffer) => Received;
  }): ClientDuplexStream<Sent, Received> {
    return this.#client.makeBidiStreamRequest(method.path, method.requestSerialize, method.responseDeserialize, this.#metadata);
  }

  errorOf(error: unknown): MrlmError {
    return errorOfStatus(error, this.codes);
  }

  /** A server that was waited for in vain: whoever asked need not wait as long again. */
  outOfPatience(cause: unknown, retryMs: number): MrlmError {
    const details = cause instanceof Error ? ((cause as Partial<ServiceError>).details ?? cause.message) : "it ended the stream";
    return new MrlmError(this.codes.unavailable, `${this.codes.peer} could not be reached for ${retryMs} ms: ${reasonOf(details)}`, { isRetryable: false, cause });
  }

  close(): void {
    this.#client.close();
  }

  async #unaryOnce<Request, Response>(method: MethodDefinition<Request, Response>, request: Request, signals: readonly AbortSignal[]): Promise<Response> {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    for (const signal of signals) if (signal.aborted) throw abortError(`A call to ${this.address}`, signal);
    const call = this.#client.makeUnaryRequest(method.path, method.requestSerialize, method.responseDeserialize, request, this.#metadata, (error, response) => {
      if (error === null) resolve(response as Response);
      else reject(error);
    });
    const remove = onAbort(signals, (signal) => {
      reject(abortError(`A call to ${this.address}`, signal));
      call.cancel();
    });
    try {
      return await promise;
    } finally {
      remove();
    }
  }
}
