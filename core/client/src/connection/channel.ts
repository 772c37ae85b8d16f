import {
  type ChannelOptions,
  Client,
  type ClientDuplexStream,
  type Metadata,
  type MethodDefinition,
  credentials,
} from "@grpc/grpc-js";
import { abortError, onAbort } from "./aborts.ts";
import { checkAddress } from "./check-address.ts";

/** A method whose messages go both ways. */
export interface DuplexMethod<Sent, Received> {
  readonly path: string;
  readonly requestSerialize: (message: Sent) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Received;
}

/** A gRPC channel to one server. Each call is made once; what a lost connection means is for its owner to say. Messages have no size limit on this side. */
export class Channel {
  readonly address: string;
  readonly #client: Client;
  readonly #metadata: Metadata;

  /**
   * @param address `host:port`; CONFIG_INVALID without a port
   * @param metadata of every call
   */
  constructor(address: string, metadata: Metadata, options: ChannelOptions) {
    this.address = checkAddress(address);
    this.#metadata = metadata;
    this.#client = new Client(address, credentials.createInsecure(), {
      "grpc.max_receive_message_length": -1,
      "grpc.max_send_message_length": -1,
      ...options,
    });
  }

  /** A unary call, which each of the signals ends, on the wire too. */
  async unary<Request, Response>(
    method: MethodDefinition<Request, Response>,
    request: Request,
    signals: readonly AbortSignal[],
  ): Promise<Response> {
    for (const signal of signals) if (signal.aborted) throw this.#ended(signal);
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const call = this.#client.makeUnaryRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      request,
      this.#metadata,
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

  /** A stream in both directions. */
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
