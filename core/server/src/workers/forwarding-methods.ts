import { Metadata, type ServerDuplexStream, type ServerUnaryCall, type sendUnaryData, status } from "@grpc/grpc-js";
import type { Tokens } from "@mrlm/kit/access";
import type { Logger } from "@mrlm/spec";
import {
  Assembler,
  decodeError,
  entriesOf,
  ERROR_METADATA_KEY,
  environmentProto as wire,
  type RequestKind,
  responseEnvelope,
  type Serialised,
  statusOfError,
  TRACE_METADATA_KEY,
} from "@mrlm/wire";
import { callerOf } from "../service/caller.ts";
import { ForwardedClient } from "./forwarded-client.ts";
import type { StreamFailure } from "./serve-worker.ts";
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
    multiplex: (call: ServerDuplexStream<Serialised, Serialised>): ForwardedClient => {
      const client = new ForwardedClient(
        callerOf(call, server.tokens),
        {
          write: (frame, onSent) => call.write(frame, onSent),
          read: (isReading) => {
            if (isReading) call.resume();
            else call.pause();
          },
          fail: (failure) => void call.emit("error", statusOf(failure)),
          end: () => call.end(),
        },
        shared,
      );
      pool.clients.add(client);
      const gone = (): void => {
        client.gone();
        pool.clients.delete(client);
      };
      call.on("data", (frame: Serialised) => client.receive(frame));
      call.on("drain", () => client.drained());
      call.on("end", () => client.halfClosed());
      for (const event of ["cancelled", "error", "close"]) call.on(event, gone);
      return client;
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
    client.gone();
    pool.clients.delete(client);
  };
  const client: ForwardedClient = new ForwardedClient(
    callerOf(call, server.tokens),
    {
      write(frame) {
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
        return true;
      },
      read: () => undefined,
      fail: (failure) => end(() => answer(statusOf(failure))),
      end: () => undefined,
    },
    server,
  );
  const settle = (answered: RequestKind | "error", body: Uint8Array): void => {
    if (answered === "error") answer(statusOfError(decodeError(wire.SessionError.decode(body))));
    else answer(null, Buffer.from(body.buffer, body.byteOffset, body.length));
  };
  pool.clients.add(client);
  // gRPC reports a cancelled call and a lost connection in the same way, so the work is aborted only after a delay, unless the call is repeated.
  call.on("cancelled", () => {
    setTimeout(() => {
      if (client.isAlone(REQUEST_ID)) client.cancel(REQUEST_ID);
      client.gone();
      pool.clients.delete(client);
    }, GRACE_MS).unref();
  });
  client.begin(REQUEST_ID, kind, call.request, String(call.metadata.get(TRACE_METADATA_KEY)[0] ?? ""));
}

/** Returns the status of a stream that cannot continue. */
function statusOf(failure: string | Error): object {
  if (typeof failure !== "string") return statusOfError(failure);
  const metadata = new Metadata();
  try {
    const { code, details, error } = JSON.parse(failure) as StreamFailure;
    if (error !== "") metadata.set(ERROR_METADATA_KEY, Buffer.from(error, "base64"));
    return { code: Number(code), details: String(details), metadata };
  } catch {
    return { code: status.INTERNAL, details: "A worker ended the stream without a reason.", metadata };
  }
}
