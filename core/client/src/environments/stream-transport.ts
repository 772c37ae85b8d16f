import { type ClientDuplexStream, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { MrlmError } from "@mrlm/spec";
import {
  Assembler,
  ENVIRONMENT_SERVICE,
  Outbox,
  type Serialised,
  decodeError,
  invalid,
  serialise,
  environmentProto as wire,
} from "@mrlm/wire";
import { abortError, onAbort } from "../connection/aborts.ts";
import { Backoff } from "../connection/backoff.ts";
import type { ServerConnection } from "./connection.ts";
import type { SessionTransport } from "./session-transport.ts";

type Request = NonNullable<wire.SessionRequest["request"]>;
type Response = NonNullable<wire.SessionResponse["response"]>;

interface Pending {
  readonly bytes: Uint8Array;
  readonly resolve: (response: Response) => void;
  readonly reject: (error: MrlmError) => void;
}

/** What ends a stream for a reason that another attempt would meet again. */
const FINAL: readonly number[] = [
  status.UNIMPLEMENTED,
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
  status.RESOURCE_EXHAUSTED,
];

/** How long a stream may take to be taken when nothing has failed before, at least. */
const FIRST_SIGN_MS = 20_000;
const SILENT = "it takes connections and answers nothing, as a server does that one of its environments blocks";

/**
 * All sessions of one server over one stream. While the connection is lost requests wait, and are sent again on the next one; they
 * reject with SERVER_UNAVAILABLE when none comes about for `retryMs`.
 */
export class StreamTransport implements SessionTransport {
  readonly #connection: ServerConnection;
  readonly #retryMs: number;
  readonly #maxMessageBytes: number;
  readonly #pending = new Map<bigint, Pending>();
  readonly #backoff = new Backoff();
  #lastId = 0n;
  #call: ClientDuplexStream<Serialised, wire.MultiplexResponse> | undefined;
  #outbox: Outbox | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When the present run of failures began. */
  #failingSince: number | undefined;
  #isEnded = false;

  constructor(connection: ServerConnection, retryMs: number, maxMessageBytes: number) {
    this.#connection = connection;
    this.#retryMs = retryMs;
    this.#maxMessageBytes = maxMessageBytes;
  }

  async reset(reset: wire.ResetRequest, signals: readonly AbortSignal[]): Promise<wire.ResetResponse> {
    const response = await this.#request({ $case: "reset", reset }, signals);
    if (response.$case === "reset") return response.reset;
    throw mismatch();
  }

  async step(step: wire.StepRequest, signals: readonly AbortSignal[]): Promise<wire.StepResponse> {
    const response = await this.#request({ $case: "step", step }, signals);
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
    clearTimeout(this.#timer);
    // The server would answer first what is still under way, and nobody waits for that.
    this.#call?.cancel();
    this.#rejectAll(new MrlmError("CANCELLED", `The connection to ${this.#connection.address} was closed.`));
  }

  async #request(request: Request, signals: readonly AbortSignal[]): Promise<Response> {
    if (this.#isEnded)
      throw new MrlmError("SESSION_NOT_FOUND", `The connection to ${this.#connection.address} was closed.`);
    for (const signal of signals) if (signal.aborted) throw abortError("A request", signal);
    const requestId = ++this.#lastId;
    const bytes = serialise(wire.SessionRequest, { requestId, request, cancel: false, chunk: undefined });
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    this.#pending.set(requestId, { bytes, resolve, reject });
    if (this.#outbox === undefined) this.#connect();
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
      serialise(wire.SessionRequest, { requestId, request: undefined, cancel: true, chunk: undefined }),
    );
    pending.reject(error);
  }

  /** Opens a stream and sends everything that waits for an answer, unless an attempt is already under way. */
  #connect(): void {
    if (this.#call !== undefined || this.#timer !== undefined) return;
    const call = this.#connection.duplex(ENVIRONMENT_SERVICE.multiplex);
    const outbox = new Outbox((frame) => call.write(frame));
    const assembler = new Assembler(this.#maxMessageBytes);
    this.#call = call;
    this.#outbox = outbox;
    call.on("data", (frame: wire.MultiplexResponse) => {
      this.#failingSince = undefined;
      this.#backoff.reset();
      for (const response of frame.responses) this.#receive(response, assembler);
    });
    call.on("drain", () => outbox.drained());
    call.on("error", (error: ServiceError) => this.#lost(call, error));
    call.on("end", () => this.#lost(call, undefined));
    for (const [requestId, { bytes }] of this.#pending) outbox.add(requestId, bytes);
    this.#awaitSign(
      call,
      this.#failingSince === undefined
        ? performance.now() + Math.max(this.#retryMs, FIRST_SIGN_MS)
        : this.#failingSince + this.#retryMs,
    );
  }

  /** The system takes connections for a server that hears nothing: an attempt that brings no sign of it ends when patience does. */
  #awaitSign(call: ClientDuplexStream<Serialised, wire.MultiplexResponse>, until: number): void {
    const timer = setTimeout(
      () => {
        this.#lost(
          call,
          Object.assign(new Error(SILENT), { code: status.UNAVAILABLE, details: SILENT, metadata: new Metadata() }),
        );
        call.cancel();
        // The deadline may have passed already, and a timer must not be set in the past.
      },
      Math.max(1, until - performance.now() + 1),
    );
    for (const event of ["metadata", "error", "end"]) call.once(event, () => clearTimeout(timer));
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
    else if (response.$case === "error") pending?.reject(decodeError(response.error));
    else pending?.resolve(response);
  }

  #lost(call: ClientDuplexStream<Serialised, wire.MultiplexResponse>, error: ServiceError | undefined): void {
    if (this.#call !== call) return;
    this.#call = undefined;
    this.#outbox = undefined;
    if (this.#isEnded) return;
    const now = performance.now();
    this.#failingSince ??= now;
    if (now - this.#failingSince > this.#retryMs || (error !== undefined && FINAL.includes(error.code))) {
      this.#rejectAll(this.#unavailable(error));
    }
    if (this.#pending.size === 0) {
      // Nobody waits: the next request has all the time that it is promised.
      this.#failingSince = undefined;
      return;
    }
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#connect();
    }, this.#backoff.next());
  }

  #unavailable(error: ServiceError | undefined): MrlmError {
    if (error !== undefined && FINAL.includes(error.code)) return this.#connection.errorOf(error);
    return this.#connection.outOfPatience(error, this.#retryMs);
  }

  #rejectAll(error: MrlmError): void {
    const waiting = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of waiting) reject(error);
  }
}

function mismatch(): MrlmError {
  return invalid("an answer does not fit its request");
}
