import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";

/** Server of a test. */
export interface TestServer {
  readonly port: number;
  /** Connections that were opened so far. */
  connections(): number;
  close(): Promise<void>;
}

/** Starts an HTTP server. */
export async function startHttp(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { host = "127.0.0.1", port = 0 }: { readonly host?: string; readonly port?: number } = {},
): Promise<TestServer> {
  return await listen(createHttpServer(answer), host, port);
}

/** Starts a server that sends what `answer` writes, whether or not it is HTTP. */
export async function startRaw(
  answer: (send: (data: string | Uint8Array) => boolean, signal: AbortSignal, disconnect: () => void) => void,
): Promise<TestServer> {
  const server = createServer((socket) => {
    const end = new AbortController();
    socket.on("error", () => undefined).on("close", () => end.abort());
    socket.once("data", () =>
      answer(
        (data) => !end.signal.aborted && socket.write(data),
        end.signal,
        () => socket.end(),
      ),
    );
  });
  return await listen(server, "127.0.0.1", 0);
}

async function listen(server: Server, host: string, port: number): Promise<TestServer> {
  const sockets = new Set<{ destroy(): void }>();
  let connections = 0;
  server.on("connection", (socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
