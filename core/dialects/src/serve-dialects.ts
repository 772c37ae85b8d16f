import { Exchange, HttpError, accessCheck, createHttpServer } from "@mrlm/kit/http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { silentLogger } from "@mrlm/kit/service";
import type { ServerTls, Tokens } from "@mrlm/kit/access";
import { logFault, type SessionLimits, SessionTable } from "@mrlm/server/sessions";
import { type Logger, MrlmError } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import { Catalogue } from "./catalogue.ts";
import { CommonRoutes } from "./common-routes.ts";
import type { Call, Dialect, Route } from "./dialect.ts";
import { type DialectName, openDialect } from "./dialects.ts";
import { type Match, Router } from "./router.ts";
import type { ClientSandbox } from "./sandbox-fusion/client-sandbox.ts";
import { Sockets } from "./sockets.ts";
import { checkToolNames } from "./tool-names.ts";

/** Options of {@link serveDialects}. */
export interface ServeDialectsOptions extends SessionLimits {
  /** Host of the environments. Closing the server does not close it. */
  readonly host: EnvironmentHost;
  /** `host:port`; port 0 takes any free port. */
  readonly address: string;
  readonly dialects: readonly DialectName[];
  /** Ids of the environments of this port. Default: all of the host. */
  readonly environments?: readonly string[];
  /** Sandboxes by language that clients may run programs in. Servers may share them. Closing a server does not close them. Default: none. */
  readonly sandboxes?: Readonly<Record<string, ClientSandbox>>;
  /** Sessions that another server shares, with its limits and the host. Default: sessions of its own, with the limits of these options. */
  readonly sessions?: SessionTable;
  /** Tokens of which every request must carry one as `authorization: Bearer TOKEN`. Default: none. */
  readonly tokens?: Tokens;
  /** Certificate, for HTTPS. Default: plain HTTP. */
  readonly tls?: ServerTls;
  /** Whether clients of MCP get rewards. Clients of trainers' protocols always do. Default: false. */
  readonly revealRewards?: boolean;
  /** Whether clients of NeMo Gym get an error for an unscored episode, instead of a masked sample: for trainers that ignore the mask. Default: false. */
  readonly unscoredIsError?: boolean;
  /** Largest body of a request in bytes. Default: 4 MiB. */
  readonly maxRequestBytes?: number;
  /** Longest time until a request has arrived as a whole, in milliseconds. Default: 30,000. */
  readonly requestMs?: number;
  /** Receives environments that could not be closed, and unexpected errors, whose messages clients do not get. */
  readonly logger?: Logger;
}

/** Running HTTP server of environments. */
export interface DialectServer {
  readonly port: number;
  /** Paths that clients of each dialect connect to. */
  readonly urls: readonly { readonly dialect: DialectName; readonly path: string }[];
  /** Opens no new sessions, waits up to `graceMs` for the open ones, then ends them and stops. */
  close(graceMs?: number): Promise<void>;
}

/** Milliseconds for the last responses of a stopping server. */
const LAST_RESPONSES_MS = 1_000;

/** Serves the environments of a host over HTTP, in the protocols of other frameworks. Rejects with PORT_IN_USE and TOOL_CONFLICT. */
export async function serveDialects(options: ServeDialectsOptions): Promise<DialectServer> {
  const { host, address, tokens, tls, maxRequestBytes = 4 << 20, logger = silentLogger } = options;
  const sessions = options.sessions ?? new SessionTable(host, options, logger);
  const environments = options.environments ?? (await host.list()).map(({ id }) => id);
  const { revealRewards = false, sandboxes = {}, unscoredIsError = false } = options;
  const catalogue = new Catalogue(host, sessions);
  const context = { host, environments, catalogue, sessions, sandboxes, logger, revealRewards, unscoredIsError };
  const dialects = options.dialects.map((name) => openDialect(name, context));
  const routes = dialects.flatMap((dialect) => dialect.routes);
  const common = new CommonRoutes(
    context,
    routes,
    options.dialects.some((name) => name === "ors" || name === "openenv" || name === "nemo-gym"),
  );
  const router = new Router([common, ...dialects], environments);
  const http = createHttpServer(options.requestMs ?? 30_000, tls);
  const start = async () => {
    // The tools of an environment are routes in this protocol.
    if (options.dialects.includes("nemo-gym"))
      await checkToolNames(environments, [...common.routes, ...routes], { catalogue, logger });
    return http.listen(address);
  };
  const bound = await start().catch(async (error: unknown) => {
    if (options.sessions === undefined) await sessions.stop(0);
    await Promise.all(dialects.map((dialect) => dialect.close()));
    throw error;
  });
  const checkAccess = accessCheck({ tokens, isLoopback: /^(::1|127\..*)$/.test(bound.address) });
  const sockets = new Sockets(http.server, dialects, { environments, maxBytes: maxRequestBytes, checkAccess, logger });

  http.server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const url = URL.parse(`http://localhost${request.url?.startsWith("/") ? request.url : "/"}`);
    if (url === null) return void response.writeHead(400).end();
    const exchange = new Exchange(request, response, url, maxRequestBytes);
    answer(exchange).catch((error: unknown) => {
      logFault(logger, error);
      response.destroy();
    });
  });

  /** Answers a request, also with the error of a refused one. */
  async function answer(exchange: Exchange): Promise<void> {
    const { method = "", url = "" } = exchange.request;
    const found = router.find(exchange.url.pathname);
    let dialect = found[0]?.dialect;
    try {
      exchange.client = checkAccess(exchange.request);
      const matches = found.filter(({ route }) => route.method === method);
      if (dialect !== undefined && matches.length === 0) return refuseMethod(exchange, dialect, found);
      // Until the body is read, the headers decide whose form an error has.
      const expected = matches.find((match) => accepts(match, exchange, undefined));
      dialect = expected?.dialect;
      const body = method === "POST" && hasBody(exchange) ? await readJson(exchange, expected?.route) : undefined;
      const match = matches.find((each) => accepts(each, exchange, body));
      if (match !== undefined) {
        ({ dialect } = match);
        return await match.route.handle(callOf(match, exchange, body));
      }
      throw new HttpError(404, new MrlmError("MESSAGE_INVALID", `There is no route ${method} ${url.slice(0, 100)}.`));
    } catch (thrown) {
      // The client is gone.
      if (exchange.request.destroyed && !exchange.request.complete) return;
      if (!(thrown instanceof HttpError)) logFault(logger, thrown);
      const { status, error } = thrown instanceof HttpError ? thrown : fault(thrown);
      exchange.send(
        status,
        dialect?.errorBody(error, status) ?? { error: { code: error.code, message: error.message } },
        {
          ...(status === 401 && { "www-authenticate": "Bearer" }),
          ...(error.retryDelayMs !== undefined && { "retry-after": String(Math.ceil(error.retryDelayMs / 1_000)) }),
        },
      );
    }
  }

  const stop = async (graceMs: number): Promise<void> => {
    await sessions.stop(graceMs);
    await Promise.all(dialects.map((dialect) => dialect.close()));
    await sockets.close();
    await http.close(LAST_RESPONSES_MS);
  };
  let stopped: Promise<void> | undefined;
  const urls = options.dialects.flatMap((dialect, i) => dialects[i]?.paths.map((path) => ({ dialect, path })) ?? []);
  return { port: bound.port, urls, close: (graceMs = 0) => (stopped ??= stop(graceMs)) };
}

function callOf({ environment, params }: Match, exchange: Exchange, body: unknown): Call {
  return { exchange, environment, params, body };
}

function accepts(match: Match, exchange: Exchange, body: unknown): boolean {
  return match.route.accepts?.(callOf(match, exchange, body)) !== false;
}

/** Reads the body of a request. A malformed one is the value that its route has for it, if any. */
async function readJson(exchange: Exchange, route: Route | undefined): Promise<unknown> {
  return exchange.json().catch((error: unknown) => {
    if (route?.malformedBody === undefined || !(error instanceof HttpError) || error.status !== 400) throw error;
    return route.malformedBody;
  });
}

function refuseMethod(exchange: Exchange, dialect: Dialect, found: readonly Match[]): void {
  const allow = [...new Set(found.map(({ route }) => route.method))].join(", ");
  const error = new MrlmError(
    "MESSAGE_INVALID",
    `The request is malformed: the method ${exchange.request.method} is not one of ${allow}.`,
  );
  exchange.send(405, dialect.errorBody(error, 405), { allow });
}

/** Whether a request has a body: its length, if it states one, is not 0. */
function hasBody(exchange: Exchange): boolean {
  const length = exchange.header("content-length");
  return length === undefined ? exchange.header("transfer-encoding") !== undefined : Number(length) !== 0;
}

/** Returns the error that clients get of an unexpected one. */
function fault(thrown: unknown): { status: number; error: MrlmError } {
  const error = MrlmError.isInstance(thrown)
    ? thrown
    : new MrlmError("INTERNAL", "The request failed by a fault that the server's log describes.");
  return { status: MrlmError.hasCode(error, "RESOURCE_EXHAUSTED", "SERVER_UNAVAILABLE") ? 503 : 500, error };
}
