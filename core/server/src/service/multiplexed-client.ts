import { type Logger, MrlmError } from "@mrlm/spec";
import {
  Assembler,
  FRAME_BYTES,
  Inbox,
  Outbox,
  type Serialised,
  encodeError,
  encodeStep,
  environmentProto as wire,
  invalid,
  serialise,
  statusOfError,
} from "@mrlm/wire";
import type { Operation } from "../sessions/operation.ts";
import type { SessionTable } from "../sessions/session-table.ts";
import { logFault } from "../sessions/log-fault.ts";
import type { Caller } from "./caller.ts";
import { decodeReset, decodeStep, encodeStart } from "./session-codec.ts";

/** The server stops reading requests when more bytes than the first limit wait for the client, until fewer than the second wait. */
const HIGH_WATER_BYTES = 8 << 20;
const LOW_WATER_BYTES = 2 << 20;
/** Limit of bytes in frames that the stream has not sent. */
const WRITTEN_BYTES = 1 << 20;
/** The server stops reading requests when more than this number wait for their turn. */
const MAX_WAITING = 1_024;
/** Limit of requests under way on one stream. Each takes memory until its response is sent, and repeated ones wait for the same step. */
const MAX_RUNNING = 16_384;

/** Stream of serialised frames in both directions. An emitted `error` ends it with a status of gRPC. */
interface FrameStream {
  // oxlint-disable-next-line typescript/no-explicit-any
  on(event: "data" | "end" | "cancelled" | "error" | "close", listener: (...args: any[]) => void): unknown;
  emit(event: "error", status: unknown): boolean;
  /** @param onSent runs when the frame has left the process */
  write(frame: Serialised, onSent: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
  end(): unknown;
}

type Answer = NonNullable<wire.SessionResponse["response"]>;

/** Stream of one client, of gRPC or from the process that forwards its requests. Requests run concurrently, and each response is sent when it is ready. */
export class MultiplexedClient {
  readonly #call: FrameStream;
  readonly #owner: string;
  readonly #caller: Caller;
  readonly #table: SessionTable;
  readonly #logger: Logger;
  readonly #outbox: Outbox;
  readonly #assembler: Assembler;
  /** Longest time in which a client may read nothing while the stream is paused, in milliseconds. */
  readonly #stallMs: number;
  /** Responses that are serialised when fewer bytes wait. Before, they need little memory: the sessions keep the results anyway. */
  #later: wire.SessionResponse[] = [];
  /** Set while the stream is paused. */
  #stall: NodeJS.Timeout | undefined;
  readonly #inbox = new Inbox<wire.SessionRequest>(
    (request) => this.#receive(request),
    () => this.#resume(),
  );
  /** Requests under way; `undefined` for requests that cannot be cancelled. */
  readonly #running = new Map<bigint, Operation<unknown> | undefined>();
  /** Bytes in frames that the stream has not sent. */
  #writtenBytes = 0;
  #isGone = false;
  /** No more requests are received: the client sends none, or the stream ends. */
  #isEnding = false;

  constructor(
    call: FrameStream,
    caller: Caller,
    server: { readonly table: SessionTable; readonly logger: Logger; readonly maxMessageBytes: number },
  ) {
    this.#call = call;
    this.#owner = caller.owner;
    this.#caller = caller;
    this.#table = server.table;
    this.#logger = server.logger;
    this.#assembler = new Assembler(server.maxMessageBytes);
    this.#stallMs = server.table.limits.leaseMs;
    this.#outbox = new Outbox((frame) => this.#write(frame));
    call.on("data", (frame: Serialised) => this.#receiveFrame(frame));
    call.on("end", () => {
      this.#inbox.drain();
      this.#isEnding = true;
      this.#endWhenAnswered();
    });
    call.on("cancelled", () => this.#gone());
    call.on("error", () => this.#gone());
    call.on("close", () => this.#gone());
  }

  /** Responses that wait for the client, in bytes. */
  get bufferedBytes(): number {
    return this.#outbox.pendingBytes + this.#writtenBytes;
  }

  /** Ends the stream after the responses to the requests under way. The client sends later ones again on its next stream. */
  end(): void {
    this.#inbox.clear();
    this.#isEnding = true;
    // The outbox writes the latest responses in an immediate of its own.
    setImmediate(() => this.#endWhenAnswered());
  }

  /** Receives a frame. A malformed frame ends the stream, because its requests are unknown. */
  #receiveFrame(frame: Serialised): void {
    if (this.#isGone || this.#isEnding) return;
    try {
      if (frame.length > FRAME_BYTES) throw invalid(`a frame has ${frame.length} bytes; ${FRAME_BYTES} are allowed`);
      const { requests } = decoded(() => wire.MultiplexRequest.decode(frame), "a frame holds no requests");
      if (requests.length > MAX_RUNNING)
        throw invalid(`a frame has ${requests.length} requests; ${MAX_RUNNING} are allowed`);
      this.#inbox.add(requests);
      if (this.#inbox.length > MAX_WAITING) this.#call.pause();
    } catch (error) {
      this.#call.emit("error", statusOfError(error));
    }
  }

  #receive(envelope: wire.SessionRequest): void {
    const { requestId, request, cancel, chunk, traceparent } = envelope;
    try {
      if (cancel) this.#cancel(requestId);
      else if (chunk !== undefined) this.#receivePiece(requestId, chunk);
      else this.#dispatch(requestId, request, traceparent);
    } catch (error) {
      this.#fail(requestId, error);
    }
  }

  #receivePiece(requestId: bigint, chunk: wire.Chunk): void {
    const whole = this.#assembler.add(requestId, chunk);
    if (whole === undefined) return;
    const { chunk: inner, ...envelope } = decoded(() => wire.SessionRequest.decode(whole), "its pieces are no request");
    if (inner !== undefined) throw invalid("a chunk holds a chunk");
    this.#dispatch(requestId, envelope.request, envelope.traceparent);
  }

  #dispatch(requestId: bigint, request: wire.SessionRequest["request"], trace: string): void {
    if (this.#running.has(requestId)) throw invalid(`request ${requestId} is still under way`);
    if (this.#running.size >= MAX_RUNNING)
      throw new MrlmError(
        "RESOURCE_EXHAUSTED",
        `The stream has ${MAX_RUNNING} requests under way; no other may begin before one is answered.`,
        { retryDelayMs: 100 },
      );
    switch (request?.$case) {
      case "reset":
        return this.#await(
          requestId,
          this.#table.reset(this.#owner, decodeReset(request.reset, this.#caller, trace)),
          (start) => ({
            $case: "reset",
            reset: encodeStart(start),
          }),
        );
      case "step":
        return this.#await(requestId, this.#table.step(this.#owner, decodeStep(request.step, trace)), (result) => ({
          $case: "step",
          step: encodeStep(result),
        }));
      case "close":
        this.#running.set(requestId, undefined);
        this.#table.close(this.#owner, request.close.sessionId).then(
          () => this.#answer(requestId, { $case: "close", close: {} }),
          (error: unknown) => this.#fail(requestId, error),
        );
        return;
      case "renew":
        return this.#answer(requestId, {
          $case: "renew",
          renew: { gone: this.#table.renew(this.#owner, request.renew.sessionIds) },
        });
      default:
        throw invalid("a request is of a kind that this version does not know");
    }
  }

  #await<T>(requestId: bigint, operation: Operation<T>, answer: (response: T) => Answer): void {
    this.#running.set(requestId, operation.join());
    operation.promise.then(
      (response) => {
        try {
          this.#answer(requestId, answer(response));
        } catch (error) {
          this.#fail(requestId, error);
        }
      },
      (error: unknown) => this.#fail(requestId, error),
    );
  }

  #cancel(requestId: bigint): void {
    this.#assembler.drop(requestId);
    this.#running.get(requestId)?.abort(new MrlmError("CANCELLED", "The client cancelled the call."));
  }

  #fail(requestId: bigint, error: unknown): void {
    logFault(this.#logger, error);
    this.#answer(requestId, { $case: "error", error: encodeError(error) });
  }

  #answer(requestId: bigint, response: Answer): void {
    if (this.#isGone) return;
    this.#running.get(requestId)?.leave();
    this.#running.delete(requestId);
    const entry = { requestId, response, chunk: undefined };
    if (this.#outbox.pendingBytes > HIGH_WATER_BYTES) this.#later.push(entry);
    else this.#send(entry);
    // The outbox writes in the immediate that it has just scheduled, which runs before this one.
    if (this.#isEnding) setImmediate(() => this.#endWhenAnswered());
  }

  #send(response: wire.SessionResponse): void {
    this.#outbox.add(response.requestId, serialise(wire.SessionResponse, response));
    if (this.#outbox.pendingBytes <= HIGH_WATER_BYTES || this.#stall !== undefined) return;
    this.#call.pause();
    this.#stall = setTimeout(() => this.#stalled(), this.#stallMs);
  }

  /** Writes a frame. Returns whether the stream accepts more: gRPC itself would hold 16 frames, whatever their size. */
  #write(frame: Serialised): boolean {
    if (this.#isGone) return false;
    this.#writtenBytes += frame.length;
    this.#call.write(frame, () => this.#sent(frame.length));
    return this.#writtenBytes < WRITTEN_BYTES;
  }

  #sent(bytes: number): void {
    this.#writtenBytes -= bytes;
    if (this.#isGone || !this.#outbox.isFull || this.#writtenBytes >= WRITTEN_BYTES) return;
    this.#stall?.refresh();
    this.#outbox.drained();
    let sent = 0;
    while (sent < this.#later.length && this.#outbox.pendingBytes <= HIGH_WATER_BYTES)
      this.#send(this.#later[sent++] as wire.SessionResponse);
    this.#later.splice(0, sent);
    if (this.#stall !== undefined && this.#outbox.pendingBytes < LOW_WATER_BYTES) {
      clearTimeout(this.#stall);
      this.#stall = undefined;
      this.#resume();
    }
    this.#endWhenAnswered();
  }

  #resume(): void {
    if (this.#stall === undefined && this.#inbox.length === 0) this.#call.resume();
  }

  /** Ends the stream of a client that reads nothing. One that reads again sends its requests again, and gets the responses of sessions that still exist. */
  #stalled(): void {
    const problem = `The client read no responses for ${this.#stallMs / 1000} s while more than ${HIGH_WATER_BYTES >> 20} MiB waited for it.`;
    this.#logger.warn(problem);
    this.#call.emit("error", statusOfError(new MrlmError("SERVER_UNAVAILABLE", problem)));
  }

  #endWhenAnswered(): void {
    if (!this.#isEnding || this.#running.size > 0 || this.#later.length > 0) return;
    if (this.#outbox.pendingBytes === 0) this.#call.end();
  }

  /** Handles a lost connection. Requests under way continue, so that a client that reconnects within the lease gets their responses. */
  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    clearTimeout(this.#stall);
    this.#later = [];
    this.#outbox.clear();
    this.#inbox.clear();
    for (const operation of this.#running.values()) operation?.leave();
    this.#running.clear();
  }
}

function decoded<T>(decode: () => T, problem: string): T {
  try {
    return decode();
  } catch (error) {
    throw invalid(`${problem} (${(error as Error).message})`);
  }
}
