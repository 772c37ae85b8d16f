import { randomBytes, timingSafeEqual } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { Caller } from "../service/caller.ts";
import { FramedStream } from "./framed-stream.ts";

/** Place at which a worker listens. */
export interface LinkAddress {
  /** Path of a Unix socket, in a folder of this user alone. */
  readonly path: string;
  /** Secret without which a worker accepts no connection. */
  readonly token: string;
}

/** First line of a connection. */
interface Hello {
  readonly token: string;
  readonly stream: string;
  /** Direction of the bytes on this connection. */
  readonly direction: "requests" | "responses";
  /** Client whose requests follow. */
  readonly caller: Caller;
}

/** Longest first line. An identity of a client is metadata of a call, which gRPC limits to 8 KiB. */
const HELLO_BYTES = 64 << 10;
/** Time in which both connections of a stream must arrive, in milliseconds. */
const HELLO_MS = 10_000;

/** Opens a stream to a worker for the requests of one client. Connecting does not fail: the stream of a worker that is gone ends. */
export function openLink({ path, token }: LinkAddress, caller: Caller): FramedStream {
  const stream = randomBytes(12).toString("hex");
  const open = (direction: Hello["direction"]): Socket => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.write(`${JSON.stringify({ token, stream, direction, caller } satisfies Hello)}\n`);
    return socket;
  };
  const requests = open("requests");
  const responses = open("responses");
  return new FramedStream(responses, requests);
}

/** Listens for streams of the server process. */
export async function listenForLinks(
  { path, token }: LinkAddress,
  onStream: (stream: FramedStream, caller: Caller) => void,
): Promise<Server> {
  const halves = new Map<string, { readonly hello: Hello; readonly socket: Socket }>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    receiveHello(socket, (hello) => {
      if (!isEqual(hello.token, token)) return void socket.destroy();
      const other = halves.get(hello.stream);
      if (other === undefined) {
        halves.set(hello.stream, { hello, socket });
        socket.once("close", () => halves.delete(hello.stream));
        return;
      }
      halves.delete(hello.stream);
      const [requests, responses] = hello.direction === "requests" ? [socket, other.socket] : [other.socket, socket];
      onStream(new FramedStream(requests, responses, true), hello.caller);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  return server;
}

/** Reads the first line of a connection, and leaves what follows it. */
function receiveHello(socket: Socket, onHello: (hello: Hello) => void): void {
  let received = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), HELLO_MS);
  socket.once("close", () => clearTimeout(timer));
  const onData = (chunk: Buffer): void => {
    received = Buffer.concat([received, chunk]);
    const end = received.indexOf("\n");
    if (end === -1) {
      if (received.length > HELLO_BYTES) socket.destroy();
      return;
    }
    clearTimeout(timer);
    socket.off("data", onData);
    socket.pause();
    if (end + 1 < received.length) socket.unshift(received.subarray(end + 1));
    try {
      onHello(JSON.parse(received.subarray(0, end).toString()) as Hello);
    } catch {
      socket.destroy();
    }
  };
  socket.on("data", onData);
}

function isEqual(given: unknown, expected: string): boolean {
  const [a, b] = [Buffer.from(String(given)), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
