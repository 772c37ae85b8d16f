import type { IncomingMessage, ServerResponse } from "node:http";
import { silentLogger } from "@mrlm/kit/service";
import type { ServerTls, Tokens } from "@mrlm/kit/access";
import { ApiError } from "@mrlm/kit/gateway";
import { accessCheck, createHttpServer, Exchange, HttpError } from "@mrlm/kit/http";
import type { Logger } from "@mrlm/spec";
import { serverClosing } from "./api/server-closing.ts";
import { Admission, type SequenceLimits } from "./sampling/admission.ts";
import { openPolicy, type PolicySource } from "./served-policy.ts";
import { apiErrorOf } from "./api-error-of.ts";
import { attemptHeaders, attemptOf } from "./attempt.ts";
import { Routes } from "./routes.ts";
import { RequestLog, type ServerMetrics } from "./request-log.ts";

/** Options of {@link servePolicies}. */
export interface ServePoliciesOptions extends SequenceLimits {
  /** Policies with different ids. */
  readonly policies: readonly PolicySource[];
  /** `host:port`; port 0 takes any free port. */
  readonly address: string;
  /** Tokens of which every request but `/health` must carry one as `authorization: Bearer TOKEN`, or as `x-api-key`. Default: none. */
  readonly tokens?: Tokens;
  /** Certificate, for HTTPS. Default: plain HTTP. */
  readonly tls?: ServerTls;
  /** Largest body of a request in bytes, that of an agent in training. Default: 8 MiB. */
  readonly maxRequestBytes?: number;
  /** Longest time until a request has arrived as a whole, in milliseconds. Default: 30,000. */
  readonly requestMs?: number;
  readonly logger?: Logger;
}

/** Running HTTP server of policies. */
export interface PolicyServer {
  readonly port: number;
  metrics(): ServerMetrics;
  /** Accepts no more requests, waits up to `graceMs` for the responses under way, then cancels their sequences and stops. */
  close(graceMs?: number): Promise<void>;
}

/** Milliseconds for the last responses of a stopping server. */
const LAST_RESPONSES_MS = 1_000;

/** Serves policies over the APIs of OpenAI and Anthropic. Rejects with PORT_IN_USE, and with MODEL_NOT_FOUND for a model that the engine does not hold. */
export async function servePolicies(options: ServePoliciesOptions): Promise<PolicyServer> {
  const { address, tokens, tls, maxRequestBytes = 8 << 20, logger = silentLogger } = options;
  const policies = await Promise.all(options.policies.map(openPolicy));
  const admission = new Admission(options);
  const log = new RequestLog(logger, admission);
  const routes = new Routes(policies, admission);
  const http = createHttpServer(options.requestMs ?? 30_000, tls);
  const closeSamplers = (): Promise<unknown> => Promise.all(policies.map(({ sampler }) => sampler.close()));
  const bound = await http.listen(address).catch(async (error: unknown) => {
    await closeSamplers();
    throw error;
  });
  const checkAccess = accessCheck({ tokens, isLoopback: /^(::1|127\..*)$/.test(bound.address) });
  const ending = new AbortController();
  let isDraining = false;
  http.server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const url = URL.parse(`http://localhost${request.url?.startsWith("/") ? request.url : "/"}`);
    if (url === null) return void response.writeHead(400).end();
    void answer(new Exchange(request, response, url, maxRequestBytes));
  });

  async function answer(exchange: Exchange): Promise<void> {
    const { request, response, url } = exchange;
    const attempt = attemptOf(request.headers);
    const entry = log.begin(request.method ?? "", url.pathname, attempt);
    response.setHeaders(new Map(Object.entries(attemptHeaders(attempt))));
    const client = new AbortController();
    const onEnding = (): void => client.abort(ending.signal.reason);
    ending.signal.addEventListener("abort", onEnding, { once: true });
    response.once("close", () => {
      ending.signal.removeEventListener("abort", onEnding);
      client.abort();
      entry.end(response);
    });
    try {
      if (url.pathname === "/health")
        return exchange.send(isDraining ? 503 : 200, { status: isDraining ? "draining" : "healthy" });
      checkAccess(request);
      if (isDraining) throw serverClosing();
      await routes.answer(exchange, client.signal, entry);
    } catch (thrown) {
      // The client is gone.
      if (response.destroyed || (request.destroyed && !request.complete)) return;
      const error = apiErrorOf(thrown);
      if (error.status >= 500 && !(thrown instanceof ApiError) && !(thrown instanceof HttpError))
        logger.error("a request failed", { path: url.pathname, error: String((thrown as Error).stack ?? thrown) });
      entry.fail(error);
      const codec = routes.codecOf(exchange);
      if (response.headersSent) {
        response.end(codec.event(codec.error(error)));
        return;
      }
      exchange.send(error.status, codec.error(error), {
        ...(error.status === 401 && { "www-authenticate": "Bearer" }),
        ...(error.retryAfterSeconds !== undefined && { "retry-after": String(error.retryAfterSeconds) }),
      });
    }
  }

  const stop = async (graceMs: number): Promise<void> => {
    isDraining = true;
    const timer = setTimeout(() => ending.abort(serverClosing()), graceMs);
    await http.close(graceMs + LAST_RESPONSES_MS);
    clearTimeout(timer);
    ending.abort(serverClosing());
    await closeSamplers();
  };
  let stopped: Promise<void> | undefined;
  return { port: bound.port, metrics: () => log.metrics(), close: (graceMs = 0) => (stopped ??= stop(graceMs)) };
}
