import {
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientUnaryCall,
  Metadata,
  type MethodDefinition,
  credentials,
} from "@grpc/grpc-js";
import {
  Assembler,
  CLIENT_METADATA_KEY,
  ENVIRONMENT_SERVICE,
  Outbox,
  type Serialised,
  errorOfStatus,
  environmentProto as wire,
} from "@mrlm/wire";

const codes = { unavailable: "SERVER_UNAVAILABLE", failed: "INTERNAL", peer: "The server" } as const;

/** Client without any checks: it sends exactly the given messages. */
export class RawClient {
  readonly #client: Client;
  readonly #metadata = new Metadata();
  #latest: ClientUnaryCall | undefined;

  constructor(port: number, secret?: string, metadata: Readonly<Record<string, string>> = {}) {
    for (const [name, value] of Object.entries(metadata)) this.#metadata.add(name, value);
    this.#client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
      "grpc.max_receive_message_length": -1,
      // Each client has its own connection.
      "grpc.use_local_subchannel_pool": 1,
    });
    if (secret !== undefined) this.#metadata.set(CLIENT_METADATA_KEY, secret);
  }

  unary<Request, Response>(method: MethodDefinition<Request, Response>, request: Request): Promise<Response> {
    return new Promise((resolve, reject) => {
      this.#latest = this.#client.makeUnaryRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        request,
        this.#metadata,
        (error, response) => {
          if (error === null) resolve(response as Response);
          else reject(errorOfStatus(error, codes));
        },
      );
    });
  }

  /** Sends raw bytes. Returns the status code of gRPC. */
  status(path: string, bytes: Buffer): Promise<number> {
    const asIs = (message: Buffer): Buffer => message;
    return new Promise((resolve) => {
      this.#client.makeUnaryRequest(path, asIs, asIs, bytes, this.#metadata, (error) => resolve(error?.code ?? 0));
    });
  }

  reset(sessionId: Uint8Array, epoch: number, extra: Partial<wire.ResetRequest> = {}): Promise<wire.ResetResponse> {
    return this.unary(ENVIRONMENT_SERVICE.reset, resetRequest(sessionId, epoch, extra));
  }

  step(
    sessionId: Uint8Array,
    epoch: number,
    index: number,
    text = "",
    extra: Partial<wire.StepRequest> = {},
  ): Promise<wire.StepResponse> {
    return this.unary(ENVIRONMENT_SERVICE.step, stepRequest(sessionId, epoch, index, text, extra));
  }

  duplex<Sent, Received>(method: {
    path: string;
    requestSerialize: (message: Sent) => Buffer;
    responseDeserialize: (bytes: Buffer) => Received;
  }): ClientDuplexStream<Sent, Received> {
    return this.#client.makeBidiStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      this.#metadata,
    );
  }

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

  /** Cancels the latest unary call. */
  cancel(): void {
    this.#latest?.cancel();
  }

  stream(): RawStream {
    return new RawStream(this.duplex(ENVIRONMENT_SERVICE.multiplex));
  }

  close(): void {
    this.#client.close();
  }
}

/** Multiplexed stream with its responses by request id, in order of arrival. */
export class RawStream {
  readonly answers: wire.SessionResponse[] = [];
  readonly call: ClientDuplexStream<Serialised, wire.MultiplexResponse>;
  readonly #outbox: Outbox;
  readonly #assembler = new Assembler(1 << 30);
  #onAnswer: (() => void) | undefined;

  constructor(call: ClientDuplexStream<Serialised, wire.MultiplexResponse>) {
    this.call = call;
    this.#outbox = new Outbox((frame) => call.write(frame));
    call.on("error", () => undefined);
    call.on("drain", () => this.#outbox.drained());
    call.on("data", ({ responses }: wire.MultiplexResponse) => {
      for (const response of responses) {
        const whole = response.chunk === undefined ? response : this.#whole(response);
        if (whole !== undefined) this.answers.push(whole);
      }
      this.#onAnswer?.();
    });
  }

  send(requestId: bigint, request: wire.SessionRequest["request"], cancel = false): void {
    this.#outbox.add(
      requestId,
      wire.SessionRequest.encode({ requestId, request, cancel, chunk: undefined, traceparent: "" }).finish(),
    );
  }

  /** Sends a frame unchanged. */
  write(frame: Uint8Array): void {
    this.call.write(Buffer.from(frame));
  }

  /** Returns the code of the error that ends the stream. */
  async ended(): Promise<string> {
    const error = await new Promise((resolve) => this.call.once("error", resolve));
    return errorOfStatus(error, codes).code;
  }

  /** Waits for this many responses. */
  async received(count: number): Promise<wire.SessionResponse[]> {
    while (this.answers.length < count) await new Promise<void>((resolve) => (this.#onAnswer = resolve));
    return this.answers;
  }

  #whole(response: wire.SessionResponse): wire.SessionResponse | undefined {
    const bytes = this.#assembler.add(response.requestId, response.chunk as wire.Chunk);
    return bytes && wire.SessionResponse.decode(bytes);
  }
}

export function resetRequest(
  sessionId: Uint8Array,
  epoch: number,
  extra: Partial<wire.ResetRequest> = {},
): wire.ResetRequest {
  return {
    sessionId,
    epoch,
    environment: { id: "counting@1", optionsJson: "" },
    seed: undefined,
    task: "",
    leaseMs: 0,
    deadlineMs: 0,
    episode: new Uint8Array(),
    ...extra,
  };
}

export function stepRequest(
  sessionId: Uint8Array,
  epoch: number,
  index: number,
  text: string,
  extra: Partial<wire.StepRequest> = {},
): wire.StepRequest {
  const message = { role: "assistant", name: "", parts: [{ part: { $case: "text" as const, text: { text } } }] };
  return {
    sessionId,
    epoch,
    index,
    action: { agent: "agent", message, finishReason: wire.FinishReason.FINISH_REASON_STOP },
    deadlineMs: 0,
    ...extra,
  };
}

/** Returns the text of an observation's first message. */
export function shown(response: { observation: wire.Observation | undefined } | undefined): string | undefined {
  const part = response?.observation?.messages[0]?.parts[0]?.part;
  return part?.$case === "text" ? part.text.text : undefined;
}
