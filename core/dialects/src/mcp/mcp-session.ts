import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream } from "node:stream/web";
import {
  isJSONRPCNotification,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { type Exchange, HttpError } from "@mrlm/kit/http";
import { MrlmError } from "@mrlm/spec";
import type { Episode } from "../episode.ts";

/** Callbacks of {@link McpSession}. */
export interface McpSessionHooks {
  /** The episode is over. The client can still read its end, until the session closes. */
  onEpisodeOver(): void;
  onClose(): void;
}

/** Session of one MCP client: one episode, and the streams between the client and its server. */
export class McpSession {
  readonly id: string;
  readonly #episode: Episode;
  readonly #server: Server;
  readonly #transport: WebStandardStreamableHTTPServerTransport;
  readonly #hooks: McpSessionHooks;
  readonly #closed = Promise.withResolvers<undefined>();
  /** Requests whose responses wait, by the JSON of their JSON-RPC id. */
  readonly #pending = new Map<string, () => void>();
  /** Sends a ping from time to time while the client listens. */
  #heart: NodeJS.Timeout | undefined;
  #listeners = 0;
  #hasUnsentChange = false;
  /** Ends a session whose episode is over, when its client sends nothing for the time of a lease. */
  #linger: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(id: string, episode: Episode, server: Server, hooks: McpSessionHooks) {
    this.id = id;
    this.#episode = episode;
    this.#server = server;
    this.#hooks = hooks;
    this.#transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      // One JSON body for each request: results of any size, and no stream for each call.
      enableJsonResponse: true,
    });
  }

  /** Id of the environment. */
  get environment(): string {
    return this.#episode.description.id;
  }

  async connect(): Promise<void> {
    await this.#server.connect(this.#transport);
    void this.#episode.sessionEnded.then(() => this.#episodeLeft());
  }

  /** Sends that the tools have changed, at once or as soon as the client listens. */
  toolsChanged(): void {
    this.#hasUnsentChange = this.#listeners === 0;
    if (!this.#hasUnsentChange) void this.#server.sendToolListChanged().catch(() => undefined);
  }

  /** Answers a request. Each one renews the lease. @returns the status */
  async handle(exchange: Exchange, body?: unknown): Promise<number> {
    this.#renew();
    const cancelled = Promise.withResolvers<undefined>();
    const id = requestIdOf(body);
    if (id !== undefined) this.#pending.set(id, () => cancelled.resolve(undefined));
    try {
      const handled = this.#transport.handleRequest(webRequest(exchange), { parsedBody: body });
      this.#cancelRequestOf(body);
      const response = await Promise.race([handled, cancelled.promise, this.#closed.promise]);
      if (response === undefined && this.#isClosed) throw sessionNotFound();
      // A cancelled request has no result.
      if (response === undefined) return sendEmpty(exchange, 202);
      if (exchange.request.method === "DELETE" && response.ok) await this.close();
      if (exchange.request.method === "GET" && response.ok) await this.#listen(exchange, response);
      else await sendWebResponse(exchange, response);
      return response.status;
    } finally {
      if (id !== undefined) this.#pending.delete(id);
    }
  }

  /** Ends the episode and the streams of the client. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#linger);
    clearInterval(this.#heart);
    this.#hooks.onClose();
    await this.#episode.close();
    await this.#server.close();
    this.#closed.resolve(undefined);
  }

  /**
   * Sends the stream of notifications, with pings. The answer to a ping is a request, which renews the lease. An open stream alone proves nothing: that of a
   * client that was stopped, or whose machine is gone, stays open.
   */
  async #listen(exchange: Exchange, response: Response): Promise<void> {
    this.#listeners++;
    const { leaseMs } = this.#episode;
    const ping = (): void => void this.#server.request({ method: "ping" }, { timeout: leaseMs }).catch(() => undefined);
    this.#heart ??= setInterval(ping, leaseMs / 3).unref();
    if (this.#hasUnsentChange) this.toolsChanged();
    await sendWebResponse(exchange, response);
    if (--this.#listeners > 0) return;
    clearInterval(this.#heart);
    this.#heart = undefined;
  }

  /** The episode has no session any more: it has ended, its lease has, or the server stops. */
  #episodeLeft(): void {
    if (this.#isClosed) return;
    if (!this.#episode.isOver) return void this.close();
    this.#linger = setTimeout(() => void this.close(), this.#episode.leaseMs).unref();
    this.#hooks.onEpisodeOver();
  }

  #renew(): void {
    this.#linger?.refresh();
    if (!this.#episode.isOver) this.#episode.renew();
  }

  #cancelRequestOf(body: unknown): void {
    if (!isJSONRPCNotification(body) || body.method !== "notifications/cancelled") return;
    const requestId: unknown = body.params?.["requestId"];
    this.#pending.get(JSON.stringify(requestId))?.();
  }
}

/** Makes the error of a session that a client names and the server does not have. */
export function sessionNotFound(): HttpError {
  const message = "The session does not exist (any more): its lease ended, it was closed, or the server was restarted.";
  const hint = "Connect again: a new session is a new episode.";
  return new HttpError(404, new MrlmError("SESSION_NOT_FOUND", message, { hint }));
}

function sendEmpty({ response }: Exchange, status: number): number {
  if (!response.destroyed) response.writeHead(status).end();
  return status;
}

function requestIdOf(body: unknown): string | undefined {
  const id: unknown =
    typeof body === "object" && body !== null && "method" in body && "id" in body ? body.id : undefined;
  return id === undefined ? undefined : JSON.stringify(id);
}

/** Returns a request with the same method and headers, without its body. */
function webRequest({ request, url }: Exchange): Request {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(request.headersDistinct))
    for (const value of values) headers.append(name, value);
  return new Request(url, { method: request.method ?? "GET", headers });
}

/** Sends a response. A stream ends when the client disconnects. */
async function sendWebResponse({ response: target }: Exchange, response: Response): Promise<void> {
  if (target.destroyed || target.headersSent) return;
  target.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) return void target.end();
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true)
    return void target.end(Buffer.from(await response.arrayBuffer()));
  target.flushHeaders();
  // The client disconnects by ending the connection.
  await pipeline(Readable.fromWeb(response.body as ReadableStream), target).catch(() => undefined);
}
