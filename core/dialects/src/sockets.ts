import { type AccessCheck, Exchange, HttpError } from "@mrlm/kit/http";
import { STATUS_CODES, type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { logFault } from "@mrlm/server/sessions";
import { type Logger, MrlmError } from "@mrlm/spec";
import { WebSocketServer } from "ws";
import type { Dialect, SocketRoute } from "./dialect.ts";
import { environmentIn } from "./environment-name.ts";

/** Time of clients to answer the end of their connections. */
const CLOSE_MS = 500;
/** Status of a connection that a stopping server ends. */
const GOING_AWAY = 1_001;

/** WebSocket connections of a port, with the access check of its requests. */
export class Sockets {
  readonly #server: WebSocketServer;
  readonly #routes: ReadonlyMap<string, SocketRoute>;
  readonly #environments: readonly string[];
  readonly #maxBytes: number;
  readonly #checkAccess: AccessCheck;
  readonly #logger: Logger;

  /** @param maxBytes limit of one message */
  constructor(
    server: Server,
    dialects: readonly Dialect[],
    options: {
      readonly environments: readonly string[];
      readonly maxBytes: number;
      readonly checkAccess: AccessCheck;
      readonly logger: Logger;
    },
  ) {
    this.#routes = new Map(dialects.flatMap(({ sockets = [] }) => sockets.map((route) => [route.path, route])));
    this.#environments = options.environments;
    this.#maxBytes = options.maxBytes;
    this.#checkAccess = options.checkAccess;
    this.#logger = options.logger;
    this.#server = new WebSocketServer({ noServer: true, maxPayload: options.maxBytes, perMessageDeflate: false });
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on("error", () => undefined);
      try {
        this.#upgrade(request, socket, head);
      } catch (error) {
        logFault(this.#logger, error);
        socket.destroy();
      }
    });
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    const open = [...this.#server.clients];
    const closed = open.map((socket) => new Promise<void>((resolve) => socket.once("close", () => resolve())));
    for (const socket of open) socket.close(GOING_AWAY, "The server stops.");
    const timer = setTimeout(() => open.forEach((socket) => socket.terminate()), CLOSE_MS);
    await Promise.all(closed);
    clearTimeout(timer);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = URL.parse(`http://localhost${request.url?.startsWith("/") ? request.url : "/"}`);
    if (url === null) return refuse(socket, 400, "The URL is malformed.");
    const exchange = new Exchange(request, new ServerResponse(request), url, this.#maxBytes);
    try {
      exchange.client = this.#checkAccess(request);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      return refuse(socket, error.status, `${error.error.message} (${error.error.code})`);
    }
    const found = this.#find(url.pathname);
    if (found === undefined) return refuse(socket, 404, "There is no WebSocket endpoint at this path.");
    this.#server.handleUpgrade(request, socket, head, (connection) => {
      // The connection ends after an error, for example a message above the limit.
      connection.on("error", () => undefined);
      found.route.open(connection, { exchange, environment: found.environment, params: {} });
    });
  }

  #find(path: string): { route: SocketRoute; environment: string | undefined } | undefined {
    const bare = path.replace(/(.)\/$/, "$1");
    const route = this.#routes.get(bare);
    const [only, ...others] = this.#environments;
    if (route !== undefined) return { route, environment: others.length === 0 ? only : undefined };
    const slash = bare.indexOf("/", 1);
    const below = slash === -1 ? undefined : this.#routes.get(bare.slice(slash));
    if (below === undefined) return undefined;
    // The characters of an id need no encoding; some clients encode "@".
    const named = bare.slice(1, slash).replace(/%40/g, "@");
    return { route: below, environment: environmentIn(this.#environments, named) ?? named };
  }
}

/** Answers a handshake with an HTTP error. */
function refuse(socket: Duplex, status: number, detail: string): void {
  const body = JSON.stringify({ detail });
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
    ...(status === 401 ? ["www-authenticate: Bearer"] : []),
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${body}`);
}

/** Makes the error of a request that names none of several environments. */
export function noEnvironment(environments: readonly string[]): MrlmError {
  return new MrlmError("ENVIRONMENT_NOT_FOUND", "This server offers several environments, and the path names none.", {
    hint: `Put one of these before the path: ${environments.map((id) => `/${id}`).join(", ")}.`,
  });
}
