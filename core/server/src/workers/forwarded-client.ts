import { type Logger, MrlmError } from "@mrlm/spec";
import { readTrace } from "@mrlm/spec/host";
import { environmentProto as wire, invalid, Outbox, type Serialised, statusOfError } from "@mrlm/wire";
import {
  cancelEntry,
  decodedPart,
  entriesOf,
  requestEntry,
  type RequestEnvelope,
  type RequestKind,
  requestEnvelope,
  responseEnvelope,
  sessionAddress,
} from "../service/envelope.ts";
import type { Caller } from "../service/caller.ts";
import {
  type AcceptClient,
  type Call,
  type FrameChannel,
  HIGH_WATER_BYTES,
  LOW_WATER_BYTES,
  type RequestHandler,
  RequestStream,
  unknownKindError,
} from "../service/request-stream.ts";
import { logFault } from "../sessions/log-fault.ts";
import { lateError } from "../sessions/operation.ts";
import { isMeasured } from "../sessions/server-metrics.ts";
import type { EnvironmentWorker } from "./environment-worker.ts";
import type { FramedStream } from "./framed-stream.ts";
import { isSuspect, type RoutedSession, type RoutedSessions } from "./routed-sessions.ts";

/** Time in which the process of a closed stream must be seen to have ended, in milliseconds. */
const DEATH_MS = 3_000;

/** Stream to a worker for the requests of the client. */
interface ClientLink {
  readonly worker: EnvironmentWorker;
  readonly stream: FramedStream;
  readonly outbox: Outbox;
  /** Whether the worker sends no more. */
  isEnded: boolean;
}

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

/** Returns a function that makes the streams of clients to the sessions of workers. */
export function acceptForWorkers(
  pool: { readonly sessions: RoutedSessions; readonly clients: Set<ForwardedClient> },
  server: { readonly logger: Logger; readonly maxMessageBytes: number },
): AcceptClient {
  return (channel, caller) => {
    const options = { ...server, sessions: pool.sessions };
    const client = new ForwardedClient(caller, channel, options, () => pool.clients.delete(client));
    pool.clients.add(client);
    return client.stream;
  };
}

/**
 * Requests of one client, forwarded to the workers of their sessions. Neither actions nor results are decoded: a request
 * passes as it came, a response in the frame that the worker wrote.
 */
export class ForwardedClient implements RequestHandler<RequestEnvelope, Running> {
  readonly isPassing = true;
  readonly stream: RequestStream<RequestEnvelope, Running>;
  readonly #channel: FrameChannel;
  readonly #caller: Caller;
  readonly #owner: string;
  readonly #sessions: RoutedSessions;
  readonly #logger: Logger;
  readonly #onLeft: () => void;
  readonly #links = new Map<EnvironmentWorker, ClientLink>();
  /** Too many responses wait for the client. */
  #isCongested = false;
  /** Too many requests wait for a worker. */
  #isHeld = false;
  #isGone = false;

  /** @param onLeft called when the client is gone */
  constructor(
    caller: Caller,
    channel: FrameChannel,
    server: { readonly sessions: RoutedSessions; readonly logger: Logger; readonly maxMessageBytes: number },
    onLeft: () => void = () => undefined,
  ) {
    this.#caller = caller;
    this.#owner = caller.owner;
    this.#channel = channel;
    this.#sessions = server.sessions;
    this.#logger = server.logger;
    this.#onLeft = onLeft;
    this.stream = new RequestStream(channel, { ...server, stallMs: server.sessions.limits.leaseMs }, this);
  }

  /** Sessions with a request that a worker has not answered. */
  *underWay(worker: EnvironmentWorker): Generator<RoutedSession> {
    for (const { session, link } of this.stream.running.values()) if (link?.worker === worker) yield session;
  }

  isAlone({ session }: Running): boolean {
    return session.underWay === 1;
  }

  readFrame(frame: Serialised): readonly RequestEnvelope[] {
    return entriesOf(frame).map(requestEnvelope);
  }

  pieceOf({ kind, body }: RequestEnvelope): wire.Chunk | undefined {
    return kind === "chunk" ? decodedPart(wire.Chunk, body) : undefined;
  }

  readPieces({ requestId }: RequestEnvelope, bytes: Uint8Array): RequestEnvelope {
    const { cancel, kind, body, trace } = requestEnvelope(bytes);
    if (kind === "chunk") throw invalid("a chunk holds a chunk");
    if (cancel || kind === "unknown") throw unknownKindError();
    return this.readCall({ requestId, kind, body, trace });
  }

  readCall({ requestId, kind, body, trace }: Call): RequestEnvelope {
    return requestEnvelope(requestEntry(requestId, kind, body, trace));
  }

  abort(requestId: bigint, { link }: Running): void {
    const isUnsent = link === undefined || link.outbox.drop(requestId);
    link?.outbox.add(requestId, cancelEntry(requestId));
    if (isUnsent) this.#fail(requestId, new MrlmError("CANCELLED", "The client cancelled the call."));
  }

  release({ session, kind, sentAt, timer, leave }: Running): void {
    clearTimeout(timer);
    leave?.();
    if (sentAt !== undefined && isMeasured(kind)) this.#sessions.metrics.called(session.environment, kind, sentAt);
    this.#sessions.answered(session);
  }

  refused({ kind }: RequestEnvelope, error: unknown): void {
    this.#countFailure(kind, error);
  }

  left(): void {
    this.#isGone = true;
    this.#onLeft();
    // The outboxes write in the immediates that they have scheduled, which run before this one.
    setImmediate(() => {
      for (const { stream } of this.#links.values()) stream.end(() => stream.destroy());
      this.#links.clear();
    });
  }

  setCongested(isCongested: boolean): void {
    this.#isCongested = isCongested;
    for (const { stream } of this.#links.values())
      if (isCongested) stream.pause();
      else if (stream.isPaused()) stream.resume();
  }

  begin({ requestId, kind, body, trace, entry }: RequestEnvelope): void {
    if (trace !== "" && readTrace(trace) === undefined) this.#sessions.metrics.malformedTrace();
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
        const address = sessionAddress("step", body);
        const session = this.#sessions.step(address, this.#owner);
        session.index = address.index;
        return this.#forward(requestId, session, { kind, entry });
      }
      case "close": {
        const session = this.#sessions.find(sessionAddress("close", body).sessionId, this.#owner);
        if (session?.worker !== undefined) return this.#forward(requestId, session, { kind, entry });
        if (session !== undefined) this.#sessions.endWait(session);
        return this.stream.answer(requestId, { $case: "close", close: {} });
      }
      case "renew":
        return this.stream.answer(requestId, {
          $case: "renew",
          renew: { gone: this.#sessions.renew(this.#owner, decodedPart(wire.RenewRequest, body).sessionIds) },
        });
      default:
        throw unknownKindError();
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
    this.stream.add(requestId, running);
    if (session.worker !== undefined) return this.#send(requestId, running, session.worker, entry);
    running.leave = this.#sessions.joinWait(session);
    if (deadlineMs > 0 && deadlineMs < 2 ** 31)
      running.timer = setTimeout(() => this.#fail(requestId, lateError("reset", deadlineMs)), deadlineMs);
    session.placed.then(
      (worker) => {
        if (this.stream.running.get(requestId) !== running) return;
        delete running.leave;
        clearTimeout(running.timer);
        this.#send(requestId, running, worker, entry);
      },
      (error: unknown) => {
        if (this.stream.running.get(requestId) === running) this.#fail(requestId, error);
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

  /** Reads the client's requests only while each worker reads them, so that none fills the memory of the server process. */
  #pace(): void {
    let pendingBytes = 0;
    for (const { outbox } of this.#links.values()) pendingBytes = Math.max(pendingBytes, outbox.pendingBytes);
    if (this.#isHeld ? pendingBytes >= LOW_WATER_BYTES : pendingBytes <= HIGH_WATER_BYTES) return;
    this.#isHeld = !this.#isHeld;
    this.stream.hold(this.#isHeld);
  }

  #linkTo(worker: EnvironmentWorker): ClientLink {
    const known = this.#links.get(worker);
    if (known !== undefined) return known;
    const stream = worker.open(this.#caller);
    const outbox = new Outbox((frame) => stream.writableEnded || stream.destroyed || stream.write(frame));
    const link: ClientLink = { worker, stream, outbox, isEnded: false };
    stream.on("data", (frame: Uint8Array) => {
      try {
        this.#receiveResponses(frame);
      } catch (error) {
        // Code of a plugin has written to the stream, or has replaced the codec.
        logFault(this.#logger, error);
        worker.process.kill("it wrote a response that cannot be read");
      }
    });
    stream.on("drain", () => {
      outbox.drained();
      this.#pace();
    });
    stream.on("failure", (status: unknown) => this.#channel.emit("error", status));
    for (const event of ["end", "close"])
      stream.on(event, () => {
        link.isEnded = true;
        if (!this.#isGone) void this.#lose(link);
      });
    if (this.#isCongested) stream.pause();
    this.#links.set(worker, link);
    return link;
  }

  #receiveResponses(frame: Uint8Array): void {
    if (this.#isGone) return;
    for (const entry of entriesOf(frame)) {
      const { requestId, isLast, kind, body } = responseEnvelope(entry);
      if (!isLast) continue;
      const running = this.stream.running.get(requestId);
      if (running !== undefined && kind === "error") {
        running.session.isDoubtful = true;
        this.#countFailure(running.kind, wire.SessionError.decode(body).code, running.session.environment);
      } else if (running !== undefined) this.#passed(running);
      this.stream.finish(requestId);
    }
    this.stream.forward(frame);
    this.#pace();
  }

  /** Ends the requests on the stream of a worker that is gone, with the reason of its death. */
  async #lose(link: ClientLink): Promise<void> {
    const requests = [...this.stream.running].filter(([, running]) => running.link === link);
    if (requests.length === 0) return void this.#unlink(link);
    const alive = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => alive.resolve(undefined), DEATH_MS);
    const death = await Promise.race([link.worker.death, alive.promise]);
    clearTimeout(timer);
    this.#unlink(link);
    if (death === undefined) return void this.#channel.emit("error", statusOfError(unreachableError()));
    for (const [requestId, running] of requests)
      if (this.stream.running.get(requestId) === running) this.#fail(requestId, death.errorOf(running.session.key));
  }

  #unlink(link: ClientLink): void {
    if (this.#links.get(link.worker) === link) this.#links.delete(link.worker);
    link.stream.end();
    this.#pace();
  }

  /** Answers a request under way with an error. */
  #fail(requestId: bigint, error: unknown): void {
    const running = this.stream.running.get(requestId);
    if (running === undefined) return;
    this.#countFailure(running.kind, error, running.session.environment);
    this.stream.fail(requestId, error);
  }

  /** Ends the suspicion of a session whose suspected request was answered. */
  #passed({ kind, session }: Running): void {
    if (kind !== "close" && isSuspect(session)) this.#sessions.acquit(session);
  }

  #countFailure(kind: string, failure: unknown, environment = ""): void {
    if (isMeasured(kind)) this.#sessions.metrics.failed(environment, kind, failure);
  }
}

function unreachableError(): MrlmError {
  return new MrlmError("SERVER_UNAVAILABLE", "The connection to a worker was lost.");
}
