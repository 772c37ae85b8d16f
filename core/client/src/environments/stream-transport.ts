import { type ClientDuplexStream, type ServiceError, status } from "@grpc/grpc-js";
import { MrlmError } from "@mrlm/spec";
import {
  Assembler,
  ENVIRONMENT_SERVICE,
  Inbox,
  Outbox,
  type Serialised,
  errorCodec,
  invalid,
  serialise,
  environmentProto as wire,
} from "@mrlm/wire";
import { abortError, onAbort } from "../connection/aborts.ts";
import type { Channel } from "../connection/channel.ts";
import { connectionLoss } from "../connection/connection-loss.ts";
import type { Connection } from "../connection/connection.ts";
import type { SessionTransport } from "./session-transport.ts";

type Request = NonNullable<wire.SessionRequest["request"]>;
type Response = NonNullable<wire.SessionResponse["response"]>;

interface Pending {
  readonly bytes: Uint8Array;
  readonly resolve: (response: Response) => void;
  readonly reject: (error: Error) => void;
}

/** Status codes of a stream for which another attempt would fail for the same reason. */
const FINAL: readonly number[] = [
  status.UNIMPLEMENTED,
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
  status.RESOURCE_EXHAUSTED,
];

/**
 * Carries all sessions of one server over one stream. After a connection loss, requests without a response are sent again on the next
 * stream. They reject with SERVER_UNAVAILABLE when the server cannot be reached for `waitMs`.
 */
export class StreamTransport implements SessionTransport {
  readonly #connection: Connection;
  readonly #waitMs: number;
  readonly #maxMessageBytes: number;
  readonly #pending = new Map<bigint, Pending>();
  #lastId = 0n;
  #call: ClientDuplexStream<Serialised, wire.MultiplexResponse> | undefined;
  #outbox: Outbox | undefined;
  /** Ends the wait for a channel; `undefined` while there is no such wait. */
  #reaching: AbortController | undefined;
  #isEnded = false;

  constructor(connection: Connection, waitMs: number, maxMessageBytes: number) {
    this.#connection = connection;
    this.#waitMs = waitMs;
    this.#maxMessageBytes = maxMessageBytes;
  }

  async reset(reset: wire.ResetRequest, signals: readonly AbortSignal[], trace?: string): Promise<wire.ResetResponse> {
    const response = await this.#request({ $case: "reset", reset }, signals, trace);
    if (response.$case === "reset") return response.reset;
    throw mismatch();
  }

  async step(step: wire.StepRequest, signals: readonly AbortSignal[], trace?: string): Promise<wire.StepResponse> {
    const response = await this.#request({ $case: "step", step }, signals, trace);
    if (response.$case === "step") return response.step;
    throw mismatch();
  }

  async close(close: wire.CloseRequest, signals: readonly AbortSignal[]): Promise<wire.CloseResponse> {
    const response = await this.#request({ $case: "close", close }, signals);
    if (response.$case === "close") return response.close;
    throw mismatch();
  }

  async renew(renew: wire.RenewRequest, signals: readonly AbortSignal[]): Promise<wire.RenewResponse> {
    const response = await this.#request({ $case: "renew", renew }, signals);
    if (response.$case === "renew") return response.renew;
    throw mismatch();
  }

  end(): void {
    this.#isEnded = true;
    this.#reaching?.abort();
    // Without this the server would first answer the requests under way.
    this.#call?.cancel();
    this.#rejectAll(new MrlmError("CANCELLED", `The connection to ${this.#connection.address} was closed.`));
  }

  async #request(request: Request, signals: readonly AbortSignal[], trace = ""): Promise<Response> {
    if (this.#isEnded)
      throw new MrlmError("SESSION_NOT_FOUND", `The connection to ${this.#connection.address} was closed.`);
    for (const signal of signals) if (signal.aborted) throw abortError("A request", signal);
    const requestId = ++this.#lastId;
    const bytes = serialise(wire.SessionRequest, {
      requestId,
      request,
      cancel: false,
      chunk: undefined,
      traceparent: trace,
    });
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    this.#pending.set(requestId, { bytes, resolve, reject });
    if (this.#outbox === undefined) void this.#connect();
    else this.#outbox.add(requestId, bytes);
    const remove = onAbort(signals, (signal) => this.#cancel(requestId, abortError("A request", signal)));
    try {
      return await promise;
    } finally {
      remove();
    }
  }

  #cancel(requestId: bigint, error: MrlmError): void {
    const pending = this.#pending.get(requestId);
    if (pending === undefined) return;
    this.#pending.delete(requestId);
    this.#outbox?.drop(requestId);
    this.#outbox?.add(
      requestId,
      serialise(wire.SessionRequest, {
        requestId,
        request: undefined,
        cancel: true,
        chunk: undefined,
        traceparent: "",
      }),
    );
    pending.reject(error);
    if (this.#pending.size === 0) this.#reaching?.abort();
  }

  /** Opens a stream as soon as the server can be reached, and sends the requests that wait for a response. */
  async #connect(): Promise<void> {
    if (this.#call !== undefined || this.#reaching !== undefined) return;
    const reaching = new AbortController();
    this.#reaching = reaching;
    try {
      this.#open(await this.#connection.reach({ waitMs: this.#waitMs, signals: [reaching.signal] }));
    } catch (error) {
      if (!reaching.signal.aborted) this.#rejectAll(error as Error);
    } finally {
      this.#reaching = undefined;
    }
    // The cancellation of the last request ended the wait, and another request was made before it had ended.
    if (this.#call === undefined && this.#pending.size > 0) void this.#connect();
  }

  #open(channel: Channel): void {
    if (this.#pending.size === 0) return;
    const call = channel.duplex(ENVIRONMENT_SERVICE.multiplex);
    const outbox = new Outbox((frame) => call.write(frame));
    const assembler = new Assembler(this.#maxMessageBytes);
    const inbox = new Inbox<wire.SessionResponse>((response) => this.#receive(response, assembler));
    const lost = (error: ServiceError): void => {
      inbox.drain();
      this.#lost(call, channel, error);
    };
    this.#call = call;
    this.#outbox = outbox;
    call.on("data", ({ responses }: wire.MultiplexResponse) => {
      this.#connection.confirm(channel);
      inbox.add(responses);
    });
    call.on("drain", () => outbox.drained());
    call.on("error", (error: ServiceError) => {
      const isRenewed = this.#connection.renews(error);
      lost(isRenewed ? connectionLoss(error.details) : error);
    });
    call.on("end", () => lost(connectionLoss("it ended the stream")));
    for (const [requestId, { bytes }] of this.#pending) outbox.add(requestId, bytes);
  }

  #receive(envelope: wire.SessionResponse, assembler: Assembler): void {
    const { requestId, chunk } = envelope;
    const pending = this.#pending.get(requestId);
    try {
      if (chunk === undefined) this.#settle(requestId, pending, envelope.response);
      else {
        const whole = assembler.add(requestId, chunk);
        if (whole !== undefined) this.#settle(requestId, pending, wire.SessionResponse.decode(whole).response);
      }
    } catch (error) {
      this.#pending.delete(requestId);
      pending?.reject(this.#connection.errorOf(error));
    }
  }

  #settle(requestId: bigint, pending: Pending | undefined, response: Response | undefined): void {
    this.#pending.delete(requestId);
    if (response === undefined) pending?.reject(invalid("an answer is of a kind that this version does not know"));
    else if (response.$case === "error") pending?.reject(errorCodec.decode(response.error));
    else pending?.resolve(response);
  }

  #lost(call: ClientDuplexStream<Serialised, wire.MultiplexResponse>, channel: Channel, error: ServiceError): void {
    if (this.#call !== call) return;
    this.#call = undefined;
    this.#outbox = undefined;
    if (this.#isEnded) return;
    if (FINAL.includes(error.code)) return this.#rejectAll(this.#connection.errorOf(error));
    this.#connection.lost(channel, connectionLoss(error.details));
    if (this.#pending.size > 0) void this.#connect();
  }

  #rejectAll(error: Error): void {
    const waiting = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of waiting) reject(error);
  }
}

function mismatch(): MrlmError {
  return invalid("an answer does not fit its request");
}
