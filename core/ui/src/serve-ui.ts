import type { IncomingMessage, ServerResponse } from "node:http";
import { silentLogger } from "@mrlm/kit/service";
import type { ServerTls, Tokens } from "@mrlm/kit/access";
import { accessCheck, createHttpServer, Exchange, HttpError } from "@mrlm/kit/http";
import { type Logger, MrlmError } from "@mrlm/spec";
import { answerApi, type ApiContext } from "./api.ts";
import { assertReadable, findRuns, type FoundRun } from "./find-runs.ts";
import { LiveChanges } from "./live-changes.ts";
import { loginPage, signIn, withCookie } from "./login.ts";
import { MAX_ANSWER_BYTES, type PageSeat, SEAT_ROUTE } from "./page-seat.ts";
import { type PageFile, pageFiles } from "./page-files.ts";
import { RunReader } from "./run-reader.ts";
import { EnvironmentServers } from "./servers/environment-servers.ts";

/** Options of {@link serveUi}. */
export interface ServeUiOptions {
  /** Runs, directories that hold runs, or files of episode stores. */
  readonly directories: readonly string[];
  /** `host:port`; port 0 takes any free port. */
  readonly address: string;
  /** Addresses of the metrics of environment servers. Default: none. */
  readonly metrics?: readonly string[];
  /** Tokens of which a reader must know one. Default: none. */
  readonly tokens?: Tokens;
  /** Certificate, for HTTPS. Default: plain HTTP. */
  readonly tls?: ServerTls;
  /** Seat of a person, at the page `/play`. Default: none. */
  readonly seat?: PageSeat;
  readonly logger?: Logger;
}

/** Running server of the page. */
export interface UiServer {
  readonly port: number;
  close(): Promise<void>;
}

const REQUEST_MS = 30_000;
const MAX_BODY_BYTES = 4_096;
/** Time for which a search for runs is used again. */
const SEARCH_MS = 2_000;
const LAST_RESPONSES_MS = 500;

/** Nothing is loaded from elsewhere, and no script runs that stands in the page. Text of a model is text. */
const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

/** Statuses of errors of the API. */
const STATUSES: Readonly<Partial<Record<MrlmError["code"], number>>> = {
  RUN_NOT_FOUND: 404,
  EPISODE_NOT_FOUND: 404,
  MESSAGE_INVALID: 400,
  QUERY_INVALID: 400,
  QUERY_LIMIT: 503,
  RESOURCE_EXHAUSTED: 503,
};

/** Serves the page of runs. It only reads, but for the answers at a seat. Rejects with RUN_NOT_FOUND for a directory that cannot be read, with USAGE for a malformed address of metrics, and with PORT_IN_USE. */
export async function serveUi(options: ServeUiOptions): Promise<UiServer> {
  const { directories, address, metrics = [], tokens, tls, seat, logger = silentLogger } = options;
  const servers = new EnvironmentServers(metrics);
  for (const directory of directories) assertReadable(directory);
  const page = pageFiles();
  const reader = new RunReader();
  const runs = searchedRuns(directories);
  const context: ApiContext = { reader, runs, servers, changes: new LiveChanges(() => runs().values()) };
  const http = createHttpServer(REQUEST_MS, tls);
  const bound = await http.listen(address);
  const checkAccess = accessCheck({ tokens, isLoopback: /^(::1|127\..*)$/.test(bound.address) });

  http.server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const url = URL.parse(`http://localhost${request.url?.startsWith("/") ? request.url : "/"}`);
    if (url === null) return void response.writeHead(400).end();
    const limit = url.pathname === SEAT_ROUTE ? MAX_ANSWER_BYTES : MAX_BODY_BYTES;
    answer(new Exchange(request, response, url, limit)).catch((error: unknown) => {
      logger.warn("A request failed.", { error: String(error) });
      response.destroy();
    });
  });

  async function answer(exchange: Exchange): Promise<void> {
    const { request, url } = exchange;
    const isApi = url.pathname.startsWith("/api/");
    try {
      if (url.pathname === "/login" && tokens !== undefined) return await signIn(exchange, tokens, tls !== undefined);
      checkAccess({ headers: withCookie(request.headers), socket: request.socket });
      if (url.pathname === SEAT_ROUTE && seat !== undefined) return await seat.handle(exchange);
      if (request.method !== "GET" && request.method !== "HEAD")
        throw new HttpError(405, new MrlmError("MESSAGE_INVALID", `The server answers GET, not ${request.method}.`));
      if (isApi) return await answerApi(exchange, context);
      sendPage(exchange, page);
    } catch (thrown) {
      const { status, error } = refusal(thrown);
      if (status === 500) logger.warn("A request failed.", { code: error.code, message: error.message });
      if (status === 401 && !isApi) return loginPage(exchange);
      exchange.send(status, { error: { code: error.code, message: error.message, hint: error.hint } });
    }
  }

  return {
    port: bound.port,
    async close() {
      await reader.close();
      await http.close(LAST_RESPONSES_MS);
    },
  };
}

/** Returns the search for runs, which is repeated every two seconds at most. */
function searchedRuns(directories: readonly string[]): () => ReadonlyMap<string, FoundRun> {
  let found: ReadonlyMap<string, FoundRun> = new Map();
  let at = -Infinity;
  return () => {
    if (performance.now() - at < SEARCH_MS) return found;
    found = findRuns(directories);
    at = performance.now();
    return found;
  };
}

/** Every address that is no file shows the page, whose script reads the address. */
function sendPage({ request, response, url }: Exchange, page: ReadonlyMap<string, PageFile>): void {
  const file = page.get(url.pathname) ?? (url.pathname.includes(".") ? undefined : page.get("/index.html"));
  if (file === undefined) return void response.writeHead(404).end();
  if (request.headers["if-none-match"] === file.etag) return void response.writeHead(304).end();
  response.writeHead(200, { "content-type": file.type, etag: file.etag, "cache-control": "no-cache" });
  response.end(file.bytes);
}

function refusal(thrown: unknown): { readonly status: number; readonly error: MrlmError } {
  if (thrown instanceof HttpError) return thrown;
  if (!MrlmError.isInstance(thrown)) return { status: 500, error: new MrlmError("INTERNAL", String(thrown)) };
  return { status: STATUSES[thrown.code] ?? 500, error: thrown };
}
