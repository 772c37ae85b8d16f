import type { sendUnaryData, ServerDuplexStream, ServerUnaryCall, StatusObject } from "@grpc/grpc-js";
import type { Tokens } from "@mrlm/kit/access";
import type { Logger } from "@mrlm/spec";
import {
  Assembler,
  decodeError,
  entriesOf,
  environmentProto as wire,
  requestEntry,
  requestEnvelope,
  type RequestKind,
  responseEnvelope,
  type Serialised,
  statusOfError,
  TRACE_METADATA_KEY,
} from "@mrlm/wire";
import { callerOf } from "../service/caller.ts";
import type { ClientStream, FrameChannel } from "../service/request-stream.ts";
import { ForwardedClient } from "./forwarded-client.ts";
import type { WorkerPool } from "./worker-pool.ts";

/** Time in which a unary call whose client is gone may be repeated before its work is aborted. */
const GRACE_MS = 1_000;
const REQUEST_ID = 1n;

/** Makes the methods that concern sessions. Requests and responses are serialised. */
export function forwardingMethods(
  pool: WorkerPool,
  server: { readonly logger: Logger; readonly maxMessageBytes: number; readonly tokens: Tokens | undefined },
) {
  const shared = { ...server, sessions: pool.sessions };
  const unary =
    (kind: RequestKind) => (call: ServerUnaryCall<Serialised, Serialised>, answer: sendUnaryData<Serialised>) =>
      forwardCall(pool, kind, call, answer, shared);
  return {
    reset: unary("reset"),
    step: unary("step"),
    close: unary("close"),
    renew: unary("renew"),
    multiplex: (call: ServerDuplexStream<Serialised, Serialised>): ClientStream => {
      const client = new ForwardedClient(callerOf(call, server.tokens), call, shared, (left) =>
        pool.clients.delete(left),
      );
      pool.clients.add(client);
      return client.stream.listen(call);
    },
  };
}

/** Forwards a unary call as the only request of a stream. */
function forwardCall(
  pool: WorkerPool,
  kind: RequestKind,
  call: ServerUnaryCall<Serialised, Serialised>,
  answer: sendUnaryData<Serialised>,
  server: ConstructorParameters<typeof ForwardedClient>[2] & { readonly tokens: Tokens | undefined },
): void {
  const pieces = new Assembler(Infinity);
  const end = (settle: () => void): void => {
    settle();
    client.stream.leave();
  };
  const channel: FrameChannel = {
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
  };
  const client: ForwardedClient = new ForwardedClient(callerOf(call, server.tokens), channel, server, (left) =>
    pool.clients.delete(left),
  );
  const settle = (answered: RequestKind | "error", body: Uint8Array): void => {
    if (answered === "error") answer(statusOfError(decodeError(wire.SessionError.decode(body))));
    else answer(null, Buffer.from(body.buffer, body.byteOffset, body.length));
  };
  pool.clients.add(client);
  // gRPC reports a cancelled call and a lost connection in the same way, so the work is aborted only after a delay, unless the call is repeated.
  call.on("cancelled", () => {
    setTimeout(() => {
      if (client.isAlone(REQUEST_ID)) client.stream.cancel(REQUEST_ID);
      client.stream.leave();
    }, GRACE_MS).unref();
  });
  const trace = String(call.metadata.get(TRACE_METADATA_KEY)[0] ?? "");
  client.stream.begin(requestEnvelope(requestEntry(REQUEST_ID, kind, call.request, trace)));
}
