import { type Logger, MrlmError } from "@mrlm/spec";
import { readTrace } from "@mrlm/spec/host";
import {
  Assembler,
  cancelEntry,
  decodedPart,
  encodeError,
  entriesOf,
  environmentProto as wire,
  FRAME_BYTES,
  invalid,
  Outbox,
  requestEntry,
  type RequestEnvelope,
  type RequestKind,
  requestEnvelope,
  responseEntry,
  responseEnvelope,
  sessionAddress,
} from "@mrlm/wire";
import { isMeasured } from "../sessions/server-metrics.ts";
import type { Caller } from "../service/caller.ts";
import { logFault } from "../sessions/log-fault.ts";
import { type ClientLink, openClientLink } from "./client-link.ts";
import type { ClientSink } from "./client-sink.ts";
import type { EnvironmentWorker } from "./environment-worker.ts";
import { FrameJoiner } from "./frame-joiner.ts";
import { late, unknownKind } from "./request-errors.ts";
import { HIGH_WATER_BYTES, LOW_WATER_BYTES, RequestFlow } from "./request-flow.ts";
import { isSuspect, keyOf, type RoutedSession, type RoutedSessions } from "./routed-sessions.ts";

/** Limit of requests under way on one stream. */
const MAX_RUNNING = 16_384;
/** Time in which the process of a closed stream must be seen to have ended, in milliseconds. */
const DEATH_MS = 3_000;

interface Running {
  readonly session: RoutedSession;
  readonly kind: RequestKind;
  /** Time at which it was sent to the worker, in milliseconds of `performance.now()`. */
  sentAt?: number;
  /** `undefined` while the session waits for a place. */
  link?: ClientLink;
  /** Ends the request's wait, or its test. */
  leave?: () => void;
  timer?: NodeJS.Timeout;
}

/**
 * Requests of one client, forwarded to the workers of their sessions. Neither actions nor results are decoded: a request passes as it came, a response in the
 * frame that the worker wrote.
 */
export class ForwardedClient {
  readonly #caller: Caller;
  readonly #owner: string;
  readonly #sessions: RoutedSessions;
  readonly #sink: ClientSink;
  readonly #logger: Logger;
  readonly #joiner: FrameJoiner;
  readonly #flow: RequestFlow;
  /** Responses of the server process itself. */
  readonly #answers: Outbox;
  readonly #assembler: Assembler;
  readonly #running = new Map<bigint, Running>();
  readonly #links = new Map<EnvironmentWorker, ClientLink>();
  #isGone = false;
  #isHalfClosed = false;
  #isEnding = false;

  constructor(
    caller: Caller,
    sink: ClientSink,
    server: { readonly sessions: RoutedSessions; readonly logger: Logger; readonly maxMessageBytes: number },
  ) {
    this.#caller = caller;
    this.#owner = caller.owner;
    this.#sink = sink;
    this.#sessions = server.sessions;
    this.#logger = server.logger;
    this.#assembler = new Assembler(server.maxMessageBytes);
    this.#flow = new RequestFlow(
      (isReading) => sink.read(isReading),
      server.sessions.limits.leaseMs,
      (error) => {
        server.logger.warn(error.message);
        sink.fail(error);
      },
    );
    this.#joiner = new FrameJoiner(
      (frame) => this.#isGone || sink.write(frame, () => this.#flow.progressed()),
      () => this.#flushed(),
    );
    this.#answers = new Outbox((frame) => {
      this.#joiner.add(frame);
      return true;
    });
  }

  /** Receives a serialised MultiplexRequest. A malformed one ends the stream, because its requests are unknown. */
  receive(frame: Uint8Array): void {
    if (this.#isGone || this.#isEnding) return;
    try {
      if (frame.length > FRAME_BYTES) throw invalid(`a frame has ${frame.length} bytes; ${FRAME_BYTES} are allowed`);
      const entries = entriesOf(frame);
      if (entries.length > MAX_RUNNING)
        throw invalid(`a frame has ${entries.length} requests; ${MAX_RUNNING} are allowed`);
      const envelopes = entries.map(requestEnvelope);
      for (const [i, envelope] of envelopes.entries()) this.#receive(envelope, entries[i] as Uint8Array);
    } catch (error) {
      this.#sink.fail(error as Error);
    }
  }

  /** Receives one request without its envelope. */
  begin(requestId: bigint, kind: RequestKind, body: Uint8Array, trace = ""): void {
    this.#receive({ requestId, kind, body, trace }, requestEntry(requestId, kind, body, trace));
  }

  /** Reports that the client sends no more requests and waits for the responses. */
  halfClosed(): void {
    this.#isHalfClosed = true;
    this.#endWhenAnswered();
  }

  /** Reports that the client accepts more. */
  drained(): void {
    this.#joiner.drained();
    this.#endWhenAnswered();
  }

  /** Responses that wait for the client, in bytes. */
  get bufferedBytes(): number {
    return this.#joiner.pendingBytes;
  }

  /** Ends the stream after the responses under way, because the server stops. The client repeats later requests on its next stream. */
  end(): void {
    this.#isEnding = true;
    this.halfClosed();
  }

  /** Cancels a request. */
  cancel(requestId: bigint): void {
    this.#assembler.drop(requestId);
    const running = this.#running.get(requestId);
    if (running === undefined) return;
    const isUnsent = running.link === undefined || running.link.outbox.drop(requestId);
    running.link?.outbox.add(requestId, cancelEntry(requestId));
    if (isUnsent) this.#fail(requestId, new MrlmError("CANCELLED", "The client cancelled the call."));
  }

  /** Whether other requests of the session of this one are under way, on any stream. */
  isAlone(requestId: bigint): boolean {
    return this.#running.get(requestId)?.session.underWay === 1;
  }

  /** Handles a lost client. Its requests continue in the workers, so that a client that reconnects within the lease gets their responses. */
  gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#flow.end();
    for (const requestId of [...this.#running.keys()]) this.#done(requestId);
    // The outboxes write in the immediates that they have scheduled, which run before this one.
    setImmediate(() => {
      for (const { stream } of this.#links.values()) stream.end(() => stream.destroy());
      this.#links.clear();
    });
  }

  /** Sessions with a request that a worker has not answered. */
  *underWay(worker: EnvironmentWorker): Generator<RoutedSession> {
    for (const { session, link } of this.#running.values()) if (link?.worker === worker) yield session;
  }

  #receive(envelope: RequestEnvelope, entry: Uint8Array): void {
    const { requestId, kind, body } = envelope;
    try {
      if (kind === "cancel") this.cancel(requestId);
      else if (kind === "chunk") this.#receivePiece(requestId, body);
      else this.#dispatch(envelope, entry);
    } catch (error) {
      this.#countFailure(kind, error);
      this.#refuse(requestId, error);
    }
  }

  #receivePiece(requestId: bigint, chunk: Uint8Array): void {
    const whole = this.#assembler.add(requestId, decodedPart(wire.Chunk, chunk));
    if (whole === undefined) return;
    const { kind, body, trace } = requestEnvelope(whole);
    if (kind === "chunk") throw invalid("a chunk holds a chunk");
    if (kind === "cancel" || kind === "unknown") throw unknownKind();
    this.#dispatch({ requestId, kind, body, trace }, requestEntry(requestId, kind, body, trace));
  }

  #dispatch({ requestId, kind, body, trace }: RequestEnvelope, entry: Uint8Array): void {
    if (trace !== "" && readTrace(trace) === undefined) this.#sessions.metrics.malformedTrace();
    if (this.#running.has(requestId)) throw invalid(`request ${requestId} is still under way`);
    if (this.#running.size >= MAX_RUNNING)
      throw new MrlmError(
        "RESOURCE_EXHAUSTED",
        `The stream has ${MAX_RUNNING} requests under way; no other may begin before one is answered.`,
        { retryDelayMs: 100 },
      );
    switch (kind) {
      case "reset": {
        const address = sessionAddress("reset", body);
        const { epoch, deadlineMs } = address;
        const session = this.#sessions.reset(address, this.#owner, this.#caller.client);
        session.index = -1;
        this.#forward(requestId, session, { kind, entry, deadlineMs });
        const { worker, waitingReset: before } = session;
        if (worker !== undefined || (before !== undefined && before.epoch >= epoch)) return;
        session.waitingReset = { epoch, fail: (error) => this.#fail(requestId, error) };
        return before?.fail(new MrlmError("CANCELLED", "The session was reset during another call."));
      }
      case "step": {
        this.#sessions.steps++;
        const { sessionId, epoch, index } = sessionAddress("step", body);
        const session = this.#sessions.find(sessionId, this.#owner);
        if (session === undefined) throw this.#sessions.lostError(keyOf(sessionId), this.#owner, epoch);
        session.index = index;
        return this.#forward(requestId, session, { kind, entry });
      }
      case "close": {
        const session = this.#sessions.find(sessionAddress("close", body).sessionId, this.#owner);
        if (session?.worker !== undefined) return this.#forward(requestId, session, { kind, entry });
        if (session !== undefined) this.#sessions.endWait(session);
        return this.#answer(requestId, { $case: "close", close: {} });
      }
      case "renew":
        return this.#answer(requestId, {
          $case: "renew",
          renew: { gone: this.#sessions.renew(decodedPart(wire.RenewRequest, body).sessionIds, this.#owner) },
        });
      default:
        throw unknownKind();
    }
  }

  #forward(
    requestId: bigint,
    session: RoutedSession,
    request: { readonly kind: RequestKind; readonly entry: Uint8Array; readonly deadlineMs?: number },
  ): void {
    const { kind, entry, deadlineMs = 0 } = request;
    const running: Running = { session, kind };
    session.underWay++;
    this.#running.set(requestId, running);
    if (session.worker !== undefined) return this.#send(requestId, running, session.worker, entry);
    running.leave = this.#sessions.joinWait(session);
    if (deadlineMs > 0 && deadlineMs < 2 ** 31)
      running.timer = setTimeout(() => this.#fail(requestId, late(deadlineMs)), deadlineMs);
    session.placed.then(
      (worker) => {
        if (this.#running.get(requestId) !== running) return;
        delete running.leave;
        clearTimeout(running.timer);
        this.#send(requestId, running, worker, entry);
      },
      (error: unknown) => {
        if (this.#running.get(requestId) === running) this.#fail(requestId, error);
      },
    );
  }

  #send(requestId: bigint, running: Running, worker: EnvironmentWorker, entry: Uint8Array): void {
    const { session } = running;
    if (running.kind === "close" || !isSuspect(session)) return this.#write(requestId, running, worker, entry);
    const endTest = worker.test(session, () => this.#write(requestId, running, worker, entry));
    running.leave = endTest;
  }

  #write(requestId: bigint, running: Running, worker: EnvironmentWorker, entry: Uint8Array): void {
    const link = this.#linkTo(worker);
    running.link = link;
    running.sentAt = performance.now();
    if (link.isEnded) return void this.#lose(link);
    link.outbox.add(requestId, entry);
    this.#pace();
  }

  /** Continues or stops to read requests. */
  #pace(): void {
    if (!this.#isGone) this.#flow.update(this.#joiner.pendingBytes + this.#answers.pendingBytes, this.#links.values());
  }

  /** Continues to read responses too when enough have been written. */
  #flushed(): void {
    if (this.#joiner.pendingBytes < LOW_WATER_BYTES)
      for (const { stream } of this.#links.values()) if (stream.isPaused()) stream.resume();
    this.#pace();
  }

  #linkTo(worker: EnvironmentWorker): ClientLink {
    const known = this.#links.get(worker);
    if (known !== undefined) return known;
    const link = openClientLink(worker, this.#caller, {
      onFrame: (frame) => this.#receiveResponses(frame),
      onFault: (error) => logFault(this.#logger, error),
      onDrained: () => this.#pace(),
      onFailure: (text) => this.#sink.fail(text),
      onEnd: () => void (this.#isGone || this.#lose(link)),
    });
    this.#links.set(worker, link);
    return link;
  }

  #receiveResponses(frame: Uint8Array): void {
    if (this.#isGone) return;
    for (const entry of entriesOf(frame)) {
      const { requestId, isLast, kind, body } = responseEnvelope(entry);
      if (!isLast) continue;
      const running = this.#running.get(requestId);
      if (running !== undefined && kind === "error") {
        running.session.isDoubtful = true;
        this.#countFailure(running.kind, wire.SessionError.decode(body).code, running.session.environment);
      } else if (running !== undefined) this.#passed(running);
      this.#done(requestId);
    }
    this.#joiner.add(frame);
    if (this.#joiner.pendingBytes > HIGH_WATER_BYTES) for (const { stream } of this.#links.values()) stream.pause();
    this.#pace();
    if (this.#isHalfClosed) setImmediate(() => this.#endWhenAnswered());
  }

  /** Ends the requests on the stream of a worker that is gone, with the reason of its death. */
  async #lose(link: ClientLink): Promise<void> {
    const requests = [...this.#running].filter(([, running]) => running.link === link);
    if (requests.length === 0) return void this.#unlink(link);
    const alive = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => alive.resolve(undefined), DEATH_MS);
    const death = await Promise.race([link.worker.death, alive.promise]);
    clearTimeout(timer);
    this.#unlink(link);
    if (death === undefined)
      return this.#sink.fail(new MrlmError("SERVER_UNAVAILABLE", "The connection to a worker was lost."));
    for (const [requestId, running] of requests)
      if (this.#running.get(requestId) === running) this.#fail(requestId, death.errorOf(running.session.key));
  }

  #unlink(link: ClientLink): void {
    if (this.#links.get(link.worker) === link) this.#links.delete(link.worker);
    link.stream.end();
    this.#pace();
  }

  /** Answers a request that began. */
  #fail(requestId: bigint, error: unknown): void {
    const running = this.#running.get(requestId);
    if (running === undefined) return;
    this.#countFailure(running.kind, error, running.session.environment);
    this.#done(requestId);
    this.#refuse(requestId, error);
  }

  /** Answers a request that did not begin. */
  #refuse(requestId: bigint, error: unknown): void {
    logFault(this.#logger, error);
    this.#answer(requestId, { $case: "error", error: encodeError(error) });
  }

  /** Ends the suspicion of a session whose suspected request was answered. */
  #passed({ kind, session }: Running): void {
    if (kind !== "close" && isSuspect(session)) this.#sessions.acquit(session);
  }

  #done(requestId: bigint): void {
    const running = this.#running.get(requestId);
    if (running === undefined) return;
    this.#running.delete(requestId);
    clearTimeout(running.timer);
    running.leave?.();
    const { session, kind, sentAt } = running;
    if (sentAt !== undefined && isMeasured(kind)) this.#sessions.metrics.called(session.environment, kind, sentAt);
    this.#sessions.answered(running.session);
  }

  #countFailure(kind: string, failure: unknown, environment = ""): void {
    if (isMeasured(kind)) this.#sessions.metrics.failed(environment, kind, failure);
  }

  #answer(requestId: bigint, response: NonNullable<wire.SessionResponse["response"]>): void {
    if (this.#isGone) return;
    this.#answers.add(requestId, responseEntry(requestId, response));
    this.#pace();
    // The outbox and the joiner write in the immediates that follow.
    if (this.#isHalfClosed) setImmediate(() => setImmediate(() => this.#endWhenAnswered()));
  }

  #endWhenAnswered(): void {
    if (this.#isGone || !this.#isHalfClosed || this.#running.size > 0) return;
    if (this.#answers.pendingBytes === 0 && this.#joiner.pendingBytes === 0) this.#sink.end();
  }
}
