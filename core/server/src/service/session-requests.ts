import { type Logger, MrlmError } from "@mrlm/spec";
import {
  checkName,
  actionCodec,
  environmentRefCodec,
  observationCodec,
  stepCodec,
  environmentProto as wire,
  fromInt64,
  invalid,
  type Serialised,
} from "@mrlm/wire";
import type { RequestKind } from "./envelope.ts";
import type { Operation } from "../sessions/operation.ts";
import type { SessionReset, SessionStart, SessionStep } from "../sessions/requests.ts";
import type { SessionTable } from "../sessions/session-table.ts";
import type { Caller } from "./caller.ts";
import {
  type AcceptClient,
  type Call,
  type RequestHandler,
  RequestStream,
  unknownKindError,
} from "./request-stream.ts";

/** Call that a request waits for. */
type Waiting = Pick<Operation<unknown>, "abort" | "isAlone" | "leave">;
type Stream = RequestStream<wire.SessionRequest, Waiting>;
type Response = NonNullable<wire.SessionResponse["response"]>;

/** Close of a session. It cannot be cancelled. */
const CLOSING: Waiting = { abort: () => undefined, isAlone: false, leave: () => undefined };

/** Returns a function that makes the streams of clients to the sessions of this process. */
export function acceptHere(
  table: SessionTable,
  server: { readonly logger: Logger; readonly maxMessageBytes: number },
): AcceptClient {
  const options = { ...server, stallMs: table.limits.leaseMs };
  return (channel, caller) => new RequestStream(channel, options, new SessionRequests(caller, table));
}

/** Handler of the requests of one client to the sessions of this process. */
class SessionRequests implements RequestHandler<wire.SessionRequest, Waiting> {
  readonly isPassing = false;
  readonly #caller: Caller;
  readonly #table: SessionTable;

  constructor(caller: Caller, table: SessionTable) {
    this.#caller = caller;
    this.#table = table;
  }

  readFrame(frame: Serialised): readonly wire.SessionRequest[] {
    return decoded(() => wire.MultiplexRequest.decode(frame), "a frame holds no requests").requests;
  }

  pieceOf({ chunk }: wire.SessionRequest): wire.Chunk | undefined {
    return chunk;
  }

  readPieces({ requestId }: wire.SessionRequest, bytes: Uint8Array): wire.SessionRequest {
    const whole = decoded(() => wire.SessionRequest.decode(bytes), "its pieces are no request");
    if (whole.chunk !== undefined) throw invalid("a chunk holds a chunk");
    return { ...whole, requestId };
  }

  readCall({ requestId, kind, body, trace }: Call): wire.SessionRequest {
    const request = decoded(() => decodeBody(kind, body), "a request cannot be decoded");
    return { requestId, request, cancel: false, chunk: undefined, traceparent: trace };
  }

  begin({ requestId, request, traceparent }: wire.SessionRequest, stream: Stream): void {
    const [table, { owner }] = [this.#table, this.#caller];
    switch (request?.$case) {
      case "reset": {
        const reset = decodeReset(request.reset, this.#caller, traceparent);
        return answerLater(stream, requestId, table.reset(owner, reset), (start) => ({
          $case: "reset",
          reset: encodeStart(start),
        }));
      }
      case "step":
        return answerLater(stream, requestId, table.step(owner, decodeStep(request.step, traceparent)), (result) => ({
          $case: "step",
          step: stepCodec.encode(result),
        }));
      case "close":
        stream.add(requestId, CLOSING);
        table.close(owner, request.close.sessionId).then(
          () => stream.answer(requestId, { $case: "close", close: {} }),
          (error: unknown) => stream.fail(requestId, error),
        );
        return;
      case "renew":
        return stream.answer(requestId, {
          $case: "renew",
          renew: { gone: table.renew(owner, request.renew.sessionIds) },
        });
      default:
        throw unknownKindError();
    }
  }

  abort(_requestId: bigint, operation: Waiting): void {
    operation.abort(new MrlmError("CANCELLED", "The client cancelled the call."));
  }

  isAlone(operation: Waiting): boolean {
    return operation.isAlone;
  }

  release(operation: Waiting): void {
    operation.leave();
  }
}

function decodeBody(kind: RequestKind, body: Uint8Array): wire.SessionRequest["request"] {
  switch (kind) {
    case "reset":
      return { $case: kind, reset: wire.ResetRequest.decode(body) };
    case "step":
      return { $case: kind, step: wire.StepRequest.decode(body) };
    case "close":
      return { $case: kind, close: wire.CloseRequest.decode(body) };
    case "renew":
      return { $case: kind, renew: wire.RenewRequest.decode(body) };
  }
}

function answerLater<T>(
  stream: Stream,
  requestId: bigint,
  operation: Operation<T>,
  encode: (response: T) => Response,
): void {
  stream.add(requestId, operation.join());
  operation.promise.then(
    (response) => {
      try {
        stream.answer(requestId, encode(response));
      } catch (error) {
        stream.fail(requestId, error);
      }
    },
    (error: unknown) => stream.fail(requestId, error),
  );
}

/** Decodes a reset of a client. Throws MESSAGE_INVALID. @param trace its `traceparent`; empty for none */
function decodeReset(
  request: wire.ResetRequest,
  { client }: Pick<SessionReset, "client">,
  trace: string,
): SessionReset {
  const { sessionId, epoch, environment, seed, task, leaseMs, deadlineMs } = request;
  checkName(task, "the name of a task");
  return {
    sessionId,
    epoch,
    environment: environmentRefCodec.decode(environment),
    ...(seed !== undefined && { seed: fromInt64(seed, "a seed") }),
    ...(task !== "" && { task }),
    ...(trace !== "" && { trace }),
    leaseMs,
    deadlineMs,
    ...(client !== undefined && { client }),
  };
}

function encodeStart({ observation, leaseMs, description }: SessionStart): wire.ResetResponse {
  return { observation: observationCodec.encode(observation), leaseMs, maxTurns: description.maxTurns };
}

/** Decodes a step. Throws MESSAGE_INVALID. @param trace its `traceparent`; empty for none */
function decodeStep(request: wire.StepRequest, trace: string): SessionStep {
  const { sessionId, epoch, index, action, deadlineMs } = request;
  return {
    ...{ sessionId, epoch, index, deadlineMs },
    action: actionCodec.decode(action),
    isDecoded: true,
    ...(trace !== "" && { trace }),
  };
}

function decoded<T>(decode: () => T, problem: string): T {
  try {
    return decode();
  } catch (error) {
    throw invalid(`${problem} (${(error as Error).message})`);
  }
}
