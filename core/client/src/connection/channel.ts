import {
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  type Metadata,
  type MethodDefinition,
  credentials,
} from "@grpc/grpc-js";
import { TRACE_METADATA_KEY } from "@mrlm/wire";
import { abortError, onAbort } from "./aborts.ts";
import { checkAddress } from "./check-address.ts";

/** Method with a stream of messages in both directions. */
export interface DuplexMethod<Sent, Received> {
  readonly path: string;
  readonly requestSerialize: (message: Sent) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Received;
}

/** gRPC channel to one server. Each call is made once; {@link Connection} repeats calls. This side sets no limit to the size of messages. */
export class Channel {
  readonly address: string;
  readonly #client: Client;
  readonly #metadata: Metadata;

  /**
   * @param address `host:port`; CONFIG_INVALID without a port
   * @param metadata sent with every call
   * @param security credentials of TLS; default: plain TCP
   */
  constructor(
    address: string,
    metadata: Metadata,
    options: ChannelOptions,
    security: ChannelCredentials = credentials.createInsecure(),
  ) {
    this.address = checkAddress(address);
    this.#metadata = metadata;
    this.#client = new Client(address, security, {
      "grpc.max_receive_message_length": -1,
      "grpc.max_send_message_length": -1,
      // Connection repeats calls; gRPC repeats none.
      "grpc.enable_retries": 0,
      // A separate connection, without the backoff of an earlier channel to this address.
      "grpc.use_local_subchannel_pool": 1,
      ...options,
    });
  }

  /** Makes a unary call. Each of the signals ends it, on the wire too. */
  async unary<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    signals: readonly AbortSignal[],
    trace?: string,
  ): Promise<Response> {
    for (const signal of signals) if (signal.aborted) throw this.#ended(signal);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const call = this.#client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      trace === undefined ? this.#metadata : withTrace(this.#metadata, trace),
      (error, response) => {
        if (error === null) resolve(response as Response);
        else reject(error);
      },
    );
    const remove = onAbort(signals, (signal) => {
      reject(this.#ended(signal));
      call.cancel();
    });
    try {
      return await promise;
    } finally {
      remove();
    }
  }

  /** Makes a call whose response is a stream. */
  serverStream<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
  ): ClientReadableStream<Response> {
    return this.#client.makeServerStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      this.#metadata,
    );
  }

  /** Opens a stream in both directions. */
  duplex<Sent, Received>(method: DuplexMethod<Sent, Received>): ClientDuplexStream<Sent, Received> {
    return this.#client.makeBidiStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      this.#metadata,
    );
  }

  close(): void {
    this.#client.close();
  }

  #ended(signal: AbortSignal): Error {
    return abortError(`A call to ${this.address}`, signal);
  }
}

function withTrace(metadata: Metadata, trace: string): Metadata {
  const traced = metadata.clone();
  traced.set(TRACE_METADATA_KEY, trace);
  return traced;
}
