import { type Exchange, HttpError } from "@mrlm/kit/http";
import { randomBytes } from "node:crypto";
import {
  isInitializeRequest,
  isJSONRPCRequest,
  PARSE_ERROR,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import { logFault, ownerOf } from "@mrlm/server/sessions";
import { defined, MrlmError } from "@mrlm/spec";
import type { Call, Dialect, DialectContext, Route } from "../dialect.ts";
import { Episode } from "../episode.ts";
import { requireOneAgent } from "../one-agent.ts";
import { episodeChoice } from "./episode-choice.ts";
import { jsonRpcError } from "../json-rpc-error.ts";
import { mcpServer } from "./mcp-server.ts";
import { McpSession, sessionNotFound } from "./mcp-session.ts";

/** Clients of this dialect. Their session ids are secrets of 128 bits. */
const OWNER = "mcp";
const METHODS = ["GET", "POST", "DELETE"] as const;
/** Protocol version from which MCP has no sessions. */
const UNSUPPORTED_VERSION = -32_022;
/** Sessions whose episodes are over and whose clients may read the end. They have no place in the table. */
const MAX_OVER = 1_024;
const BAD_REQUEST = -32_000;

/** Model Context Protocol over streamable HTTP. One session is one episode. */
export class McpDialect implements Dialect {
  readonly paths: readonly string[];
  readonly routes: readonly Route[];
  readonly #context: DialectContext;
  /** Sessions by client and id. */
  readonly #sessions = new Map<string, McpSession>();
  /** Sessions whose episodes are over, from the oldest on. */
  readonly #over = new Set<McpSession>();

  constructor(context: DialectContext) {
    this.#context = context;
    const { environments } = context;
    this.paths = environments.length === 1 ? ["/mcp"] : environments.map((id) => `/${id}/mcp`);
    this.routes = METHODS.map((method) => ({
      method,
      path: "/mcp",
      summary: "Model Context Protocol",
      handle: (call) => this.#handle(call),
    }));
  }

  errorBody(error: MrlmError, status: number): unknown {
    const { code, ...rest } = jsonRpcError(error);
    return { jsonrpc: "2.0", id: null, error: { code: status === 400 ? PARSE_ERROR : code, ...rest } };
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#sessions.values(), (session) => session.close()));
  }

  async #handle({ exchange, environment, body }: Call): Promise<void> {
    if (exchange.request.method === "POST" && body === undefined)
      throw new HttpError(400, invalid("it has no body: send one JSON value in UTF-8"));
    const id = exchange.header("mcp-session-id");
    if (id !== undefined) {
      const session = this.#sessions.get(ownerOf(exchange.client, id));
      if (session === undefined || session.environment !== (environment ?? session.environment))
        throw sessionNotFound();
      await session.handle(exchange, body);
    } else if (isJSONRPCRequest(body) && isInitializeRequest(body)) await this.#open(exchange, environment, body);
    else this.#refuse(exchange, body);
  }

  /** Resets an environment for a new client, and answers its first request. */
  async #open(exchange: Exchange, environment: string | undefined, body: unknown): Promise<void> {
    const gone = new AbortController();
    const onClose = (): void => gone.abort(new MrlmError("CANCELLED", "The client disconnected."));
    exchange.response.once("close", onClose);
    let session: McpSession;
    try {
      session = await this.#connect(exchange, await this.#startEpisode(exchange, environment, gone.signal));
    } catch (error) {
      if (gone.signal.aborted) return;
      logFault(this.#context.logger, error);
      if (!MrlmError.hasCode(error, "RESOURCE_EXHAUSTED", "SERVER_UNAVAILABLE"))
        return exchange.send(200, errorBody(body, error));
      const seconds = Math.ceil((error.retryDelayMs ?? 1_000) / 1_000);
      return exchange.send(503, errorBody(body, error), { "retry-after": String(seconds) });
    } finally {
      exchange.response.off("close", onClose);
    }
    const status = await session.handle(exchange, body);
    if (status >= 400 || gone.signal.aborted) await session.close();
  }

  async #startEpisode(exchange: Exchange, named: string | undefined, signal: AbortSignal): Promise<Episode> {
    const { options, ...choice } = episodeChoice(exchange);
    const id = named ?? this.#unnamed();
    const environment = options === undefined ? { id } : { id, options };
    requireOneAgent(await this.#context.sessions.describe(environment), "MCP");
    const { client } = exchange;
    const request = { ...choice, environment, ...defined({ client }) };
    return Episode.start(this.#context.sessions, OWNER, request, signal);
  }

  async #connect({ client }: Exchange, episode: Episode): Promise<McpSession> {
    const id = randomBytes(16).toString("hex");
    const key = ownerOf(client, id);
    const { revealRewards, logger } = this.#context;
    try {
      const onToolsChanged = (): void => session.toolsChanged();
      const server = mcpServer(episode, { revealRewards, logger, onToolsChanged });
      const session = new McpSession(id, episode, server, {
        onEpisodeOver: () => this.#limitOver(session),
        onClose: () => {
          this.#sessions.delete(key);
          this.#over.delete(session);
        },
      });
      this.#sessions.set(key, session);
      await session.connect();
      return session;
    } catch (error) {
      await episode.close();
      throw error;
    }
  }

  /** Keeps a session whose episode is over, and closes the oldest such one above the limit. */
  #limitOver(session: McpSession): void {
    this.#over.add(session);
    const [oldest] = this.#over;
    if (this.#over.size > MAX_OVER) void oldest?.close();
  }

  #unnamed(): never {
    throw new MrlmError("ENVIRONMENT_NOT_FOUND", "This server offers several environments, and the path names none.", {
      hint: `Connect to ${this.paths.join(" or ")}.`,
    });
  }

  /** Answers a request outside of a session. Clients of a version without sessions fall back to `initialize`. */
  #refuse(exchange: Exchange, body: unknown): void {
    const version = exchange.header("mcp-protocol-version");
    if (isJSONRPCRequest(body) && version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
      const message = `This server needs sessions, which protocol version ${version} does not have.`;
      const data = { supported: SUPPORTED_PROTOCOL_VERSIONS, requested: version };
      return exchange.send(400, { jsonrpc: "2.0", id: body.id, error: { code: UNSUPPORTED_VERSION, message, data } });
    }
    const error = invalid(
      "it names no session: begin with initialize, and send the header mcp-session-id from then on",
    );
    const { data, message } = jsonRpcError(error);
    exchange.send(400, { jsonrpc: "2.0", id: idOf(body), error: { code: BAD_REQUEST, message, data } });
  }
}

function errorBody(body: unknown, error: unknown): unknown {
  return { jsonrpc: "2.0", id: idOf(body), error: jsonRpcError(error) };
}

function idOf(body: unknown): string | number | null {
  return isJSONRPCRequest(body) ? body.id : null;
}

function invalid(reason: string): MrlmError {
  return new MrlmError("MESSAGE_INVALID", `The request is malformed: ${reason}.`);
}
