import type { sendUnaryData, ServerDuplexStream, ServerUnaryCall, StatusObject } from "@grpc/grpc-js";
import {
  Assembler,
  errorCodec,
  environmentProto as wire,
  type Serialised,
  statusOfError,
  TRACE_METADATA_KEY,
} from "@mrlm/wire";
import { entriesOf, type RequestKind, responseEnvelope } from "./envelope.ts";
import { callerOf } from "./caller.ts";
import type { AcceptClient, ClientStream, FrameChannel } from "./request-stream.ts";

/** Time in which a unary call whose client is gone may be repeated before its work is aborted. */
const GRACE_MS = 1_000;
const REQUEST_ID = 1n;

/**
 * Returns the methods of EnvironmentService that concern sessions. Requests and responses are serialised.
 * @param onStream receives the streams of multiplexed calls
 */
export function sessionMethods(
  accept: AcceptClient,
  onStream: (stream: ClientStream, call: ServerDuplexStream<Serialised, Serialised>) => void,
) {
  const unary =
    (kind: RequestKind) => (call: ServerUnaryCall<Serialised, Serialised>, answer: sendUnaryData<Serialised>) =>
      answerCall(kind, call, answer, (channel) => accept(channel, callerOf(call)));
  return {
    reset: unary("reset"),
    step: unary("step"),
    close: unary("close"),
    renew: unary("renew"),
    multiplex: (call: ServerDuplexStream<Serialised, Serialised>): void => {
      const stream = accept(call, callerOf(call));
      stream.listen(call);
      onStream(stream, call);
    },
  };
}

/** Answers a unary call as the only request of a stream. */
function answerCall(
  kind: RequestKind,
  call: ServerUnaryCall<Serialised, Serialised>,
  answer: sendUnaryData<Serialised>,
  open: (channel: FrameChannel) => ClientStream,
): void {
  const pieces = new Assembler(Infinity);
  const end = (settle: () => void): void => {
    settle();
    stream.leave();
  };
  const settle = (answered: RequestKind | "error", body: Uint8Array): void => {
    if (answered === "error") answer(statusOfError(errorCodec.decode(wire.SessionError.decode(body))));
    else answer(null, Buffer.from(body.buffer, body.byteOffset, body.length));
  };
  const stream = open({
    write(frame, onSent) {
      onSent();
      for (const entry of entriesOf(frame)) {
        const { kind: answered, body, isLast } = responseEnvelope(entry);
        if (answered !== undefined) end(() => settle(answered, body));
        else {
          const { chunk } = wire.SessionResponse.decode(entry);
          const whole = chunk && pieces.add(REQUEST_ID, chunk);
          if (whole === undefined) continue;
          const { kind: joined = "error", body: content } = responseEnvelope(whole);
          if (isLast) end(() => settle(joined, content));
        }
      }
    },
    emit: (_event, failure) => end(() => answer(failure as StatusObject)),
    pause: () => undefined,
    resume: () => undefined,
    end: () => undefined,
  });
  // gRPC reports a cancelled call and a lost connection in the same way, so the work is aborted only after a delay, unless
  // the call is repeated.
  call.on("cancelled", () => setTimeout(() => stream.abandon(), GRACE_MS).unref());
  const trace = String(call.metadata.get(TRACE_METADATA_KEY)[0] ?? "");
  stream.call({ requestId: REQUEST_ID, kind, body: call.request, trace });
}
