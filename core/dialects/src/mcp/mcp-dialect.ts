import type { Exchange } from "@mrlm/kit/http";
import { randomBytes } from "node:crypto";
import {
  isInitializeRequest,
  isJSONRPCRequest,
  PARSE_ERROR,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import { logFault } from "@mrlm/server/sessions";
import { MrlmError } from "@mrlm/spec";
import type { Dialect, DialectContext } from "../dialect.ts";
import { Episode } from "../episode.ts";
import { episodeChoice } from "./episode-choice.ts";
import { jsonRpcError } from "./json-rpc-error.ts";
import { mcpServer } from "./mcp-server.ts";
import { McpSession, sessionNotFound } from "./mcp-session.ts";

/** Clients of this dialect. Their session ids are secrets of 128 bits. */
const OWNER = "mcp";
/** Routes: `/mcp` for the only environment of a server, `/ENVIRONMENT/mcp` for each. */
const ROUTE = /^(?:\/([^/]+))?\/mcp\/?$/;
const METHODS: readonly string[] = ["GET", "POST", "DELETE"];
/** Protocol version from which MCP has no sessions. */
const UNSUPPORTED_VERSION = -32_022;
/** Sessions whose episodes are over and whose clients may read the end. They have no place in the table. */
const MAX_OVER = 1_024;
const BAD_REQUEST = -32_000;

/** Model Context Protocol over streamable HTTP. One session is one episode. */
export class McpDialect implements Dialect {
  readonly paths: readonly string[];
  readonly #context: DialectContext;
  readonly #sessions = new Map<string, McpSession>();
  /** Sessions whose episodes are over, from the oldest on. */
  readonly #over = new Set<McpSession>();

  constructor(context: DialectContext) {
    this.#context = context;
    const { environments } = context;
    this.paths = environments.length === 1 ? ["/mcp"] : environments.map((id) => `/${id}/mcp`);
  }

  hasRoute(path: string): boolean {
    return ROUTE.test(path);
  }

  errorBody(error: MrlmError, status: number): unknown {
    const { code, ...rest } = jsonRpcError(error);
    return { jsonrpc: "2.0", id: null, error: { code: status === 400 ? PARSE_ERROR : code, ...rest } };
  }

  async handle(exchange: Exchange): Promise<void> {
    const { method = "" } = exchange.request;
    if (!METHODS.includes(method))
      return exchange.send(405, errorBody(null, invalid(`the method ${method} is not one of MCP`)), {
        allow: METHODS.join(", "),
      });
    const body = method === "POST" ? await exchange.json() : undefined;
    const id = exchange.header("mcp-session-id");
    if (id !== undefined) {
      const session = this.#sessions.get(id);
      if (session === undefined) throw sessionNotFound();
      await session.handle(exchange, body);
    } else if (isJSONRPCRequest(body) && isInitializeRequest(body)) await this.#open(exchange, body);
    else this.#refuse(exchange, body);
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#sessions.values(), (session) => session.close()));
  }

  /** Resets an environment for a new client, and answers its first request. */
  async #open(exchange: Exchange, body: unknown): Promise<void> {
    const gone = new AbortController();
    const onClose = (): void => gone.abort(new MrlmError("CANCELLED", "The client disconnected."));
    exchange.response.once("close", onClose);
    let session: McpSession;
    try {
      session = await this.#connect(await this.#startEpisode(exchange, gone.signal));
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

  async #startEpisode(exchange: Exchange, signal: AbortSignal): Promise<Episode> {
    const { options, ...choice } = episodeChoice(exchange);
    const id = this.#environmentOf(exchange.url.pathname);
    const environment = options === undefined ? { id } : { id, options };
    const { roles } = await this.#context.host.describe(environment);
    const names = Object.keys(roles);
    if (names.length > 1 || names.some((name) => roles[name]?.many === true))
      throw new MrlmError(
        "ROLES_UNSUPPORTED",
        `Environment ${id} has several agents (roles: ${names.join(", ")}), and an MCP client acts for one.`,
      );
    const { client } = exchange;
    const request = { ...choice, environment, ...(client === undefined ? {} : { client }) };
    return Episode.start(this.#context.sessions, OWNER, request, signal);
  }

  async #connect(episode: Episode): Promise<McpSession> {
    const id = randomBytes(16).toString("hex");
    const { revealRewards, logger } = this.#context;
    try {
      const onToolsChanged = (): void => session.toolsChanged();
      const server = mcpServer(episode, { revealRewards, logger, onToolsChanged });
      const session = new McpSession(id, episode, server, {
        onEpisodeOver: () => this.#limitOver(session),
        onClose: () => {
          this.#sessions.delete(id);
          this.#over.delete(session);
        },
      });
      this.#sessions.set(id, session);
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

  /** Returns the environment that a path names. */
  #environmentOf(path: string): string {
    const named = ROUTE.exec(path)?.[1];
    const { environments } = this.#context;
    if (named !== undefined) return decodeName(named);
    const [only, ...others] = environments;
    if (only !== undefined && others.length === 0) return only;
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

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw invalid(`the path names the environment ${JSON.stringify(name)}, which is not encoded as a URL`);
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
