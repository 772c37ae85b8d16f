import { HttpError, parseClientJson } from "@mrlm/kit/http";
import { VERSION } from "@mrlm/kit/service";
import { MrlmError } from "@mrlm/spec";
import type { WebSocket } from "ws";
import type { Call, Dialect, DialectContext, Route, SocketRoute } from "../dialect.ts";
import { noEnvironment } from "../sockets.ts";
import { errorText, withStatus } from "../status.ts";
import { errorDataOf } from "./errors.ts";
import { answerFrame, message } from "./frames.ts";
import { OpenEnvSession } from "./openenv-session.ts";
import { OpenEnvSessions } from "./openenv-sessions.ts";
import { OrderedSocket } from "./ordered-socket.ts";
import { MalformedRequest, parse, parseAction, resetData, stepRequest } from "./requests.ts";
import { Rpc, rpcError } from "./rpc.ts";
import { schemas } from "./schema.ts";

/** Time between two pings of a connection. */
const PING_MS = 20_000;
const PARSE_ERROR = -32_700;
const SERVER_ERROR = -32_000;
/** Stands for the body of a JSON-RPC request that is not JSON, which has an answer with status 200. */
const MALFORMED = Symbol("malformed");

/** OpenEnv. One WebSocket is one session; HTTP requests have an episode each. */
export class OpenEnvDialect implements Dialect {
  readonly paths: readonly string[];
  readonly routes: readonly Route[];
  readonly sockets: readonly SocketRoute[];
  readonly #context: DialectContext;
  readonly #sessions: OpenEnvSessions;
  readonly #rpc: Rpc;
  /** Open connections with their sessions. */
  readonly #open = new Map<OrderedSocket, OpenEnvSession>();
  readonly #heart: NodeJS.Timeout;

  constructor(context: DialectContext) {
    this.#context = context;
    this.#sessions = new OpenEnvSessions(context);
    this.#rpc = new Rpc(context, this.#sessions);
    const { environments, sessions } = context;
    this.paths = environments.length === 1 ? ["/ws"] : environments.map((id) => `/${id}/ws`);
    this.#heart = setInterval(() => this.#beat(), Math.min(PING_MS, sessions.limits.leaseMs / 3)).unref();
    const isOurs = ({ body }: Call): boolean =>
      !(typeof body === "object" && body !== null && "responses_create_params" in body);
    const post = (path: string, summary: string, handle: Route["handle"]): Route => ({
      method: "POST",
      path,
      summary,
      accepts: isOurs,
      handle,
    });
    const get = (path: string, summary: string, handle: Route["handle"]): Route => ({
      method: "GET",
      path,
      summary,
      handle,
    });
    this.routes = [
      post("/reset", "Begin an episode, which this request alone has", (call) => this.#reset(call)),
      post("/step", "Act once in an episode, which this request alone has", (call) => this.#step(call)),
      get("/state", "State of a session without an episode", ({ exchange }) =>
        exchange.send(200, { episode_id: null, step_count: 0 }),
      ),
      get("/metadata", "Name and description of the environment", (call) => this.#metadata(call)),
      get("/schema", "JSON Schemas of actions, observations and states", (call) => this.#schema(call)),
      {
        ...post("/mcp", "Tools and sessions of OpenEnv by JSON-RPC", (call) => this.#mcp(call)),
        accepts: isRpcOfOpenEnv,
        malformedBody: MALFORMED,
      },
    ];
    this.sockets = [
      { path: "/ws", open: (socket, call) => this.#connect(socket, call, "frames") },
      { path: "/mcp", open: (socket, call) => this.#connect(socket, call, "rpc") },
    ];
  }

  errorBody(error: MrlmError): unknown {
    return { detail: errorText(error) };
  }

  async close(): Promise<void> {
    clearInterval(this.#heart);
    await this.#sessions.close();
  }

  async #reset(call: Call): Promise<void> {
    await this.#alone(call, async (session) => session.reset(parse(resetData, call.body ?? {}, ["body"])));
  }

  async #step(call: Call): Promise<void> {
    await this.#alone(call, async (session) => {
      const { action } = parse(stepRequest, call.body ?? {}, ["body"]);
      const parsed = parseAction(action, ["body", "action"]);
      if (parsed.type !== "list_tools") await session.begin();
      return session.step(parsed);
    });
  }

  /** Answers a request in a session of its own. */
  async #alone(call: Call, use: (session: OpenEnvSession) => Promise<object>): Promise<void> {
    const { exchange } = call;
    const environment = this.#environmentOf(call.environment);
    const session = new OpenEnvSession(this.#context, { environment, client: exchange.client, endsWithSocket: true });
    const onClose = (): void => void session.close();
    exchange.response.once("close", onClose);
    try {
      exchange.send(200, await use(session));
    } catch (error) {
      if (!(error instanceof MalformedRequest)) throw withStatus(error);
      exchange.send(422, { detail: error.faults });
    } finally {
      exchange.response.off("close", onClose);
      await session.close();
    }
  }

  async #metadata({ exchange, environment }: Call): Promise<void> {
    const { environments, host } = this.#context;
    const others = { readme_content: null, version: VERSION, author: null, documentation_url: null };
    if (environment === undefined)
      return exchange.send(200, { name: "mrlm", description: `Environments: ${environments.join(", ")}`, ...others });
    const { id, description } = await host
      .describe({ id: this.#environmentOf(environment) })
      .catch((error: unknown) => {
        throw withStatus(error);
      });
    exchange.send(200, { name: id, description: description ?? id, ...others });
  }

  async #schema({ exchange, environment }: Call): Promise<void> {
    if (environment === undefined) return exchange.send(200, schemas(true));
    const tools = await this.#context.catalogue.tools(this.#environmentOf(environment)).catch((error: unknown) => {
      throw withStatus(error);
    });
    exchange.send(200, schemas(tools.length > 1));
  }

  async #mcp({ exchange, environment, body }: Call): Promise<void> {
    if (body === MALFORMED) return exchange.send(200, rpcError(null, PARSE_ERROR, "Parse error: it is not JSON"));
    exchange.send(200, await this.#rpc.answer(body ?? {}, { client: exchange.client, environment }));
  }

  #connect(socket: WebSocket, { exchange, environment }: Omit<Call, "body">, form: "frames" | "rpc"): void {
    let session: OpenEnvSession;
    const id = exchange.url.searchParams.get("session_id");
    try {
      session =
        id === null
          ? this.#sessions.openAttached(this.#environmentOf(environment), exchange.client)
          : this.#sessions.attach(exchange.client, id, environment);
    } catch (error) {
      const { sessions } = this.#context;
      socket.send(
        form === "rpc"
          ? JSON.stringify(rpcError(null, SERVER_ERROR, errorText(error)))
          : message("error", errorDataOf(error, sessions)),
      );
      return socket.close(1_000);
    }
    const answer = (text: string | undefined): Promise<string | undefined> =>
      form === "frames"
        ? answerFrame(text, session, { context: this.#context, rpc: this.#rpc })
        : this.#answerRpc(text, session);
    const ordered = new OrderedSocket(socket, answer, (isLost) => {
      this.#open.delete(ordered);
      void this.#sessions.detach(session, isLost);
    });
    this.#open.set(ordered, session);
  }

  async #answerRpc(text: string | undefined, session: OpenEnvSession): Promise<string> {
    let body: unknown;
    try {
      if (text === undefined) throw new SyntaxError("it is binary");
      body = parseClientJson(text);
    } catch (error) {
      return JSON.stringify(rpcError(null, PARSE_ERROR, `Parse error: ${(error as Error).message}`));
    }
    const { client, environment } = session;
    return JSON.stringify(await this.#rpc.answer(body, { client, environment, session }));
  }

  /** Pings all connections. A client that answers is present: the lease of its session begins again. */
  #beat(): void {
    for (const [socket, session] of this.#open) if (socket.ping()) session.touch();
  }

  #environmentOf(environment: string | undefined): string {
    const { environments } = this.#context;
    if (environment === undefined) throw new HttpError(404, noEnvironment(environments));
    if (environments.includes(environment)) return environment;
    const name = JSON.stringify(environment.slice(0, 100));
    throw new HttpError(404, new MrlmError("ENVIRONMENT_NOT_FOUND", `This port has no environment ${name}.`));
  }
}

/** Whether a request to `/mcp` is for OpenEnv. Clients of MCP begin with `initialize`, and then name their session or the version of the protocol. */
function isRpcOfOpenEnv({ exchange, body }: Call): boolean {
  if (exchange.header("mcp-session-id") !== undefined || exchange.header("mcp-protocol-version") !== undefined)
    return false;
  const method: unknown = typeof body === "object" && body !== null && "method" in body ? body.method : undefined;
  return method !== "initialize" && method !== "server/discover";
}
