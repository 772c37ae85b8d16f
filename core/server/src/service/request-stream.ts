import { type Logger, MrlmError } from "@mrlm/spec";
import {
  Assembler,
  errorCodec,
  environmentProto as wire,
  FRAME_BYTES,
  Inbox,
  invalid,
  Outbox,
  type Serialised,
  serialise,
  statusOfError,
} from "@mrlm/wire";
import type { RequestKind } from "./envelope.ts";
import { logFault } from "../sessions/log-fault.ts";
import type { Caller } from "./caller.ts";

/** Requests are read while fewer bytes than the first limit wait, again when fewer than the second wait. */
export const HIGH_WATER_BYTES = 8 << 20;
export const LOW_WATER_BYTES = 2 << 20;
/** Limit of bytes in frames that the channel has not sent. */
const WRITTEN_BYTES = 1 << 20;
/** The server stops reading requests when more than this number wait for their turn. */
const MAX_WAITING = 1_024;
/** Limit of requests under way on one stream. Each takes memory until its response is sent, and repeated ones wait for the same step. */
const MAX_RUNNING = 16_384;

type Response = NonNullable<wire.SessionResponse["response"]>;

/** Channel of serialised frames to one client. An emitted `error` ends it with a status of gRPC. */
export interface FrameChannel {
  emit(event: "error", status: unknown): unknown;
  /** @param onSent runs when the frame has left the process */
  write(frame: Serialised, onSent: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
  end(): unknown;
}

/** Channel whose frames and end are events: a stream of gRPC, or of the process that forwards requests. */
interface FrameSource {
  // oxlint-disable-next-line typescript/no-explicit-any
  on(event: "data" | "end" | "cancelled" | "error" | "close", listener: (...args: any[]) => void): unknown;
}

/** Part of a request that its stream reads. */
export interface RequestHead {
  readonly requestId: bigint;
  /** Whether it cancels the request with this id. */
  readonly cancel: boolean;
}

/** Request without an envelope. */
export interface Call {
  readonly requestId: bigint;
  readonly kind: RequestKind;
  /** Serialised message of this kind. */
  readonly body: Uint8Array;
  /** `traceparent` of the caller; empty for none. */
  readonly trace: string;
}

export interface RequestHandler<Request extends RequestHead, Running> {
  /** Whether it only passes requests on, so that those of a frame are handled at once; else in slices. */
  readonly isPassing: boolean;
  /** Reads the requests of a frame. Throws MESSAGE_INVALID. */
  readFrame(frame: Serialised): readonly Request[];
  /** Returns the piece that a request carries; `undefined` for a whole one. Throws MESSAGE_INVALID. */
  pieceOf(request: Request): wire.Chunk | undefined;
  /** Reads the request whose last piece this was. Throws MESSAGE_INVALID. */
  readPieces(piece: Request, bytes: Uint8Array): Request;
  /** Reads a request that came without an envelope. Throws MESSAGE_INVALID. */
  readCall(call: Call): Request;
  /** Adds a request to those under way on the stream, or answers it. */
  begin(request: Request, stream: RequestStream<Request, Running>): void;
  /** Aborts a request under way. It is answered all the same. */
  abort(requestId: bigint, running: Running): void;
  /** Whether no other request waits for the same work. */
  isAlone(running: Running): boolean;
  /** Called when a request is no longer under way: it is answered, or its client is gone. */
  release(running: Running): void;
  /** Called with the error of a request that did not begin, before it is answered. */
  refused?(request: Request, error: unknown): void;
  /** Called once when the client is gone. */
  left?(): void;
  /** Called when too many bytes wait for the client, and when they do no more. */
  setCongested?(isCongested: boolean): void;
}

/** Requests and responses of one client. Requests run concurrently, and each response is sent when it is ready. */
export class RequestStream<Request extends RequestHead, Running> {
  readonly #channel: FrameChannel;
  readonly #handler: RequestHandler<Request, Running>;
  readonly #logger: Logger;
  readonly #assembler: Assembler;
  readonly #outbox: Outbox = new Outbox((frame) => this.#write(frame));
  readonly #inbox = new Inbox<Request>(
    (request) => this.#receive(request),
    () => {
      this.#isCrowded = false;
      this.#update();
    },
  );
  /** Longest time in which a client may read nothing while too many bytes wait for it, in milliseconds. */
  readonly #stallMs: number;
  readonly #running = new Map<bigint, Running>();
  /** Responses that are serialised when fewer bytes wait. Before, they need little memory: the sessions keep the results anyway. */
  #later: wire.SessionResponse[] = [];
  /** Bytes in frames that the channel has not sent. */
  #writtenBytes = 0;
  /** Set while too many bytes wait for the client. */
  #stall: NodeJS.Timeout | undefined;
  /** Too many requests wait for their turn. */
  #isCrowded = false;
  /** The handler accepts no more requests. */
  #isHeld = false;
  #isReading = true;
  #isGone = false;
  /** No more requests are received: the client sends none, or the stream ends. */
  #isEnding = false;

  constructor(
    channel: FrameChannel,
    server: { readonly logger: Logger; readonly maxMessageBytes: number; readonly stallMs: number },
    handler: RequestHandler<Request, Running>,
  ) {
    this.#channel = channel;
    this.#handler = handler;
    this.#logger = server.logger;
    this.#assembler = new Assembler(server.maxMessageBytes);
    this.#stallMs = server.stallMs;
  }

  /** Receives the frames and the end of the client. */
  listen(source: FrameSource): this {
    source.on("data", (frame: Serialised) => this.#receiveFrame(frame));
    source.on("end", () => {
      this.#inbox.drain();
      this.#isEnding = true;
      this.#endWhenAnswered();
    });
    for (const event of ["cancelled", "error", "close"] as const) source.on(event, () => this.leave());
    return this;
  }

  /** Responses that wait for the client, in bytes. */
  get bufferedBytes(): number {
    return this.#outbox.pendingBytes + this.#writtenBytes;
  }

  /** Requests under way, by their ids. */
  get running(): ReadonlyMap<bigint, Running> {
    return this.#running;
  }

  /** Ends the stream after the responses to the requests under way. The client sends later ones again on its next stream. */
  end(): void {
    this.#inbox.clear();
    this.#isEnding = true;
    this.#endLater();
  }

  /** Handles a lost client. Its requests continue, so that a client that reconnects within the lease gets their responses. */
  leave(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    clearTimeout(this.#stall);
    this.#later = [];
    this.#outbox.clear();
    this.#inbox.clear();
    for (const requestId of [...this.#running.keys()]) this.finish(requestId);
    this.#handler.left?.();
  }

  /** Begins a request that came without an envelope. */
  call(call: Call): void {
    try {
      this.#receive(this.#handler.readCall(call));
    } catch (error) {
      this.#refuse(call.requestId, error);
    }
  }

  /** Handles a lost client that does not come back: aborts the requests whose work no other request waits for. */
  abandon(): void {
    for (const [requestId, running] of this.#running) if (this.#handler.isAlone(running)) this.cancel(requestId);
    this.leave();
  }

  /** Adds a request to those under way. */
  add(requestId: bigint, running: Running): void {
    this.#running.set(requestId, running);
  }

  /** Cancels a request. */
  cancel(requestId: bigint): void {
    this.#assembler.drop(requestId);
    const running = this.#running.get(requestId);
    if (running !== undefined) this.#handler.abort(requestId, running);
  }

  /** Removes a request from those under way. */
  finish(requestId: bigint): void {
    const running = this.#running.get(requestId);
    if (running === undefined) return;
    this.#running.delete(requestId);
    this.#handler.release(running);
  }

  /** Answers a request with an error. */
  fail(requestId: bigint, error: unknown): void {
    this.finish(requestId);
    this.#refuse(requestId, error);
  }

  /** Answers a request, which is no longer under way then. */
  answer(requestId: bigint, response: Response): void {
    this.finish(requestId);
    this.#respond(requestId, response);
  }

  #refuse(requestId: bigint, error: unknown): void {
    logFault(this.#logger, error);
    this.#respond(requestId, { $case: "error", error: errorCodec.encode(error) });
  }

  #respond(requestId: bigint, response: Response): void {
    if (this.#isGone) return;
    const entry = { requestId, response, chunk: undefined };
    if (this.#outbox.pendingBytes > HIGH_WATER_BYTES) this.#later.push(entry);
    else this.#send(entry);
    if (this.#isEnding) this.#endLater();
  }

  /** Sends a serialised MultiplexResponse. */
  forward(frame: Uint8Array): void {
    if (this.#isGone) return;
    this.#outbox.addFrame(frame);
    this.#pace();
    if (this.#isEnding) this.#endLater();
  }

  /** Stops to read requests, or continues. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#update();
  }

  /** Receives a serialised MultiplexRequest. A malformed one ends the stream, because its requests are unknown. */
  #receiveFrame(frame: Serialised): void {
    if (this.#isGone || this.#isEnding) return;
    try {
      if (frame.length > FRAME_BYTES) throw invalid(`a frame has ${frame.length} bytes; ${FRAME_BYTES} are allowed`);
      const requests = this.#handler.readFrame(frame);
      if (requests.length > MAX_RUNNING)
        throw invalid(`a frame has ${requests.length} requests; ${MAX_RUNNING} are allowed`);
      if (this.#handler.isPassing) for (const request of requests) this.#receive(request);
      else this.#inbox.add(requests);
    } catch (error) {
      this.#channel.emit("error", statusOfError(error));
    }
    if (this.#inbox.length <= MAX_WAITING) return;
    this.#isCrowded = true;
    this.#update();
  }

  #receive(request: Request): void {
    const { requestId, cancel } = request;
    try {
      if (cancel) return this.cancel(requestId);
      const piece = this.#handler.pieceOf(request);
      const bytes = piece && this.#assembler.add(requestId, piece);
      if (piece !== undefined && bytes === undefined) return;
      const whole = bytes === undefined ? request : this.#handler.readPieces(request, bytes);
      if (this.#running.has(requestId)) throw invalid(`request ${requestId} is still under way`);
      if (this.#running.size >= MAX_RUNNING)
        throw new MrlmError(
          "RESOURCE_EXHAUSTED",
          `The stream has ${MAX_RUNNING} requests under way; no other may begin before one is answered.`,
          { retryDelayMs: 100 },
        );
      this.#handler.begin(whole, this);
    } catch (error) {
      this.#handler.refused?.(request, error);
      this.#refuse(requestId, error);
    }
  }

  #send(response: wire.SessionResponse): void {
    this.#outbox.add(response.requestId, serialise(wire.SessionResponse, response));
    this.#pace();
  }

  /** Writes a frame. Returns whether the channel accepts more: gRPC itself would hold 16 frames, whatever their size. */
  #write(frame: Serialised): boolean {
    if (this.#isGone) return false;
    this.#writtenBytes += frame.length;
    this.#channel.write(frame, () => this.#sent(frame.length));
    this.#pace();
    return this.#writtenBytes < WRITTEN_BYTES;
  }

  #sent(bytes: number): void {
    this.#writtenBytes -= bytes;
    if (this.#isGone) return;
    this.#stall?.refresh();
    if (!this.#outbox.isFull || this.#writtenBytes >= WRITTEN_BYTES) return;
    this.#outbox.drained();
    let sent = 0;
    while (sent < this.#later.length && this.#outbox.pendingBytes <= HIGH_WATER_BYTES)
      this.#send(this.#later[sent++] as wire.SessionResponse);
    this.#later.splice(0, sent);
    this.#endWhenAnswered();
  }

  /** Accepts requests and responses only while the client reads its responses. */
  #pace(): void {
    const { pendingBytes } = this.#outbox;
    if (this.#isGone) return;
    if (this.#stall === undefined && pendingBytes > HIGH_WATER_BYTES)
      this.#stall = setTimeout(() => this.#stalled(), this.#stallMs);
    else if (this.#stall !== undefined && pendingBytes < LOW_WATER_BYTES) {
      clearTimeout(this.#stall);
      this.#stall = undefined;
    } else return;
    this.#handler.setCongested?.(this.#stall !== undefined);
    this.#update();
  }

  /** Continues or stops to read requests. */
  #update(): void {
    const isReading = this.#stall === undefined && !this.#isCrowded && !this.#isHeld;
    if (isReading === this.#isReading || this.#isGone) return;
    this.#isReading = isReading;
    if (isReading) this.#channel.resume();
    else this.#channel.pause();
  }

  /**
   * Ends the stream of a client that reads nothing. One that reads again sends its requests again, and gets the responses of
   * sessions that still exist.
   */
  #stalled(): void {
    const problem = `The client read no responses for ${this.#stallMs / 1000} s while more than ${HIGH_WATER_BYTES >> 20} MiB waited for it.`;
    this.#logger.warn(problem);
    this.#channel.emit("error", statusOfError(new MrlmError("SERVER_UNAVAILABLE", problem)));
  }

  /** Ends the stream if the latest response was the last. */
  #endLater(): void {
    // The outbox writes in the immediate that it has scheduled, which runs before this one.
    setImmediate(() => this.#endWhenAnswered());
  }

  #endWhenAnswered(): void {
    if (this.#isGone || !this.#isEnding || this.#running.size > 0 || this.#later.length > 0) return;
    if (this.#outbox.pendingBytes === 0) this.#channel.end();
  }
}

/** Stream of a client, for those who accept it. */
export type ClientStream = Pick<
  RequestStream<RequestHead, unknown>,
  "abandon" | "bufferedBytes" | "call" | "end" | "leave" | "listen"
>;

/** Makes the stream of a client. */
export type AcceptClient = (channel: FrameChannel, caller: Caller) => ClientStream;

/** Makes the error of a request that this version does not know. */
export function unknownKindError(): MrlmError {
  return invalid("a request is of a kind that this version does not know");
}
