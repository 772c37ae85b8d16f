import { createServer, type Server, type ServerOptions } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { MrlmError } from "@mrlm/spec";
import type { ServerTls } from "../access/server-tls.ts";
import { limitConnections } from "./connection-limit.ts";

/** Connections at a time: twice the default number of sessions. A client of MCP has an open stream for each session beside its requests. */
const MAX_CONNECTIONS = 8_192;
const MAX_HEADER_BYTES = 16 << 10;

/** HTTP server that knows which responses are due. */
export interface HttpServer {
  readonly server: Server;
  /** Binds the server to `host:port` (port 0: any free port), or to the path of a Unix socket. Rejects with PORT_IN_USE. */
  listen(address: string): Promise<AddressInfo>;
  /** Accepts no further connections, and ends the open ones when no response is due, after `graceMs` at the latest. */
  close(graceMs: number): Promise<void>;
}

/**
 * Creates an HTTP server, for HTTPS with `tls`, that ends slow requests after `requestMs` with status 408, and refuses headers above 16 KiB with status 431.
 * @param maxConnections connections at a time; an eighth of them for one address before its requests are accepted
 */
export function createHttpServer(requestMs: number, tls?: ServerTls, maxConnections = MAX_CONNECTIONS): HttpServer {
  const options = {
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: Math.min(10_000, requestMs),
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(1_000, requestMs / 2),
    // Detects that a client's machine is gone.
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
  };
  const server = tls === undefined ? createServer(options) : createSecureServer(options, tls);
  limitConnections(server, maxConnections);
  let responsesDue = 0;
  server.on("request", (_, response) => {
    responsesDue++;
    response.once("close", () => responsesDue--);
  });
  return {
    server,
    listen: (address) => listen(server, address),
    close: (graceMs) => close(server, () => responsesDue, graceMs),
  };
}

/** Creates an HTTPS server, whose new connections use the latest certificate. */
function createSecureServer(options: ServerOptions, tls: ServerTls): Server {
  // A server without authorities accepts clients without a certificate.
  const { headersTimeout: handshakeTimeout = 0 } = options;
  const requestCert = tls.identity.ca !== undefined;
  const server = createTlsServer({ ...options, handshakeTimeout, ...tls.identity, requestCert });
  const end = tls.onReplaced(() => server.setSecureContext(tls.identity));
  return server.once("close", end);
}

async function listen(server: Server, address: string): Promise<AddressInfo> {
  const split = address.lastIndexOf(":");
  const host = address.slice(0, split).replace(/^\[(.*)\]$/, "$1");
  const port = Number(address.slice(split + 1));
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) =>
      reject(
        cause.code === "EADDRINUSE"
          ? new MrlmError("PORT_IN_USE", `Port ${port} is in use by another process (${address}).`, {
              hint: "Choose another port; 0 takes any free one.",
            })
          : new MrlmError("CONFIG_INVALID", `The HTTP server cannot listen on ${address}: ${cause.message}`, {
              hint: "Give an address of this machine as host:port.",
              cause,
            }),
      ),
    );
    const bound = (): void => resolve(server.address() as AddressInfo);
    if (address.startsWith("/")) server.listen(address, bound);
    else server.listen(port, host, bound);
  });
}

async function close(server: Server, responsesDue: () => number, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const until = performance.now() + graceMs;
  // A connection without a request so far does not count as idle.
  const check = (): void => {
    if (responsesDue() === 0 || performance.now() > until) server.closeAllConnections();
  };
  check();
  const timer = setInterval(check, 20);
  await closed;
  clearInterval(timer);
}
