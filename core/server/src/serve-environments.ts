import { randomUUID } from "node:crypto";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import type { ServerTls, Tokens } from "@mrlm/kit/access";
import { silentLogger, VERSION } from "@mrlm/kit/service";
import type { Logger } from "@mrlm/spec";
import type { EnvironmentHost } from "@mrlm/spec/host";
import { HEALTH_SERVICE, REFLECTION_SERVICES, SERIALISED_ENVIRONMENT_SERVICE } from "@mrlm/wire";
import { listen } from "./listen.ts";
import { requireToken } from "./service/authentication.ts";
import { authorizationOf } from "./service/caller.ts";
import { environmentMethods } from "./service/environment-methods.ts";
import type { ClientStream } from "./service/request-stream.ts";
import { sessionMethods } from "./service/session-methods.ts";
import { acceptHere } from "./service/session-requests.ts";
import { TlsCredentials } from "./service/tls-credentials.ts";
import { SessionTable } from "./sessions/session-table.ts";
import type { SessionLimits, SessionStats } from "./sessions/sessions.ts";
import { tryShutdown } from "./shutdown.ts";
import { Health } from "./standard/health.ts";
import { reflectionMethods } from "./standard/reflection.ts";
import { withUndecodable } from "./unary.ts";
import { acceptForWorkers } from "./workers/forwarded-client.ts";
import type { WorkerPool } from "./workers/worker-pool.ts";

/** Options of {@link serveEnvironments}. */
export interface ServeEnvironmentsOptions extends SessionLimits {
  /** Host of the environments. Closing the server does not close it. */
  readonly host: EnvironmentHost;
  /** `host:port`; port 0 takes any free port. */
  readonly address: string;
  /** Sessions that another server shares, with its limits and the host. Default: sessions of its own, with the limits of these options. */
  readonly sessions?: SessionTable;
  /** Processes that host the environments; `host` is that of these workers. Default: this process. */
  readonly workers?: WorkerPool;
  /** Largest message in bytes. Default: 64 MiB. */
  readonly maxMessageBytes?: number;
  /** Receives environments that could not be closed, and unexpected errors, whose messages clients do not get. */
  readonly logger?: Logger;
  /** Tokens of which every call but a health check must carry one as `authorization: Bearer TOKEN`. Default: none. */
  readonly tokens?: Tokens;
  /** Certificate of the server. Default: plain TCP. */
  readonly tls?: ServerTls;
  /** Whether clients get worked solutions of training tasks. The options of a client decide which tasks these are. Default: false. */
  readonly demonstrations?: boolean;
  /** Silence after which a client must answer a ping, within a third of it, in milliseconds. Otherwise its connection is ended. Default: 30,000. */
  readonly keepaliveMs?: number;
}

/** Running environment server. */
export interface EnvironmentServer {
  readonly port: number;
  stats(): SessionStats & { readonly streams: number };
  /** Sets whether an environment, by its id, serves. Health checks and watches report it. A stopping server serves none. */
  setServing(environment: string, isServing: boolean): void;
  /** Reports NOT_SERVING at once, opens no new sessions, waits up to `graceMs` for the open ones, ends them and the workers, delivers pending responses and stops. */
  close(graceMs?: number): Promise<void>;
}

/** Calls under way on one connection: one for each session, resets in the queue included, and as many again. */
const MAX_CALLS = 8_192;

/** Least time for the delivery of the last responses, in milliseconds. */
const DELIVERY_MS = 1_000;

const SERVICES = ["mrlm.env.v1.EnvironmentService", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"];

/** Serves the environments of a host over gRPC, with health and reflection. Rejects with PORT_IN_USE. */
export async function serveEnvironments(options: ServeEnvironmentsOptions): Promise<EnvironmentServer> {
  const { host, tokens, workers, maxMessageBytes = 64 << 20, keepaliveMs = 30_000, logger = silentLogger } = options;
  const hosted = workers ?? options.sessions ?? new SessionTable(host, options, logger);
  const sessions = hosted instanceof SessionTable ? hosted : hosted.sessions;
  /** Streams with the header by which their client is authorized. */
  const streams = new Map<ClientStream, string>();
  const environments = (await host.list()).map(({ id }) => id);
  const health = new Health([...SERVICES, ...environments]);
  workers?.onWithdrawn((environment) => health.set(environment, false));
  const { metrics } = sessions;
  const endMetrics = metrics.observe({
    capacity: sessions,
    environments,
    clients: () => tokens?.names ?? [],
    bufferedBytes: () => streams.keys().reduce((sum, { bufferedBytes }) => sum + bufferedBytes, 0),
  });
  const server = new Server({
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": -1,
    // Each call takes memory. Further calls wait on the client.
    "grpc.max_concurrent_streams": MAX_CALLS,
    // Detects that a client's machine is gone.
    "grpc.keepalive_time_ms": keepaliveMs,
    "grpc.keepalive_timeout_ms": keepaliveMs / 3,
    ...(tokens === undefined ? {} : { interceptors: [requireToken(tokens, () => metrics.unauthenticated())] }),
  });
  const about = environmentMethods(
    host,
    sessions,
    { instanceId: randomUUID(), version: VERSION, demonstrations: options.demonstrations ?? false },
    logger,
  );
  const accepted = { logger, maxMessageBytes };
  const accept = hosted instanceof SessionTable ? acceptHere(hosted, accepted) : acceptForWorkers(hosted, accepted);
  const ofSessions = sessionMethods(accept, (stream, call) => {
    streams.set(stream, authorizationOf(call.metadata));
    call.on("close", () => streams.delete(stream));
    // Its token may have ended since the call was accepted.
    if (tokens !== undefined && tokens.holder(authorizationOf(call.metadata)) === undefined) stream.end();
  });
  server.addService(withUndecodable(SERIALISED_ENVIRONMENT_SERVICE), { ...about, ...ofSessions });
  server.addService(HEALTH_SERVICE, health.methods);
  for (const service of REFLECTION_SERVICES) server.addService(service, reflectionMethods(SERVICES));
  // The client of an ended stream reconnects, with its new token.
  const endExpired = tokens?.onExpired(() => {
    for (const [client, authorization] of streams) if (tokens.holder(authorization) === undefined) client.end();
  });
  const credentials = options.tls === undefined ? undefined : new TlsCredentials(options.tls);
  const release = (): void => {
    endExpired?.();
    credentials?.dispose();
  };
  const port = await listen(server, options.address, credentials ?? ServerCredentials.createInsecure()).catch(
    async (error: unknown) => {
      endMetrics();
      release();
      if (hosted !== workers && hosted !== options.sessions) await hosted.stop(0);
      throw error;
    },
  );

  const stop = async (graceMs: number): Promise<void> => {
    const endsAt = performance.now() + graceMs;
    health.stop();
    await hosted.stop(graceMs);
    health.close();
    for (const stream of streams.keys()) stream.end();
    await tryShutdown(server, Math.max(DELIVERY_MS, endsAt - performance.now()));
    server.forceShutdown();
    endMetrics();
    release();
  };
  let stopped: Promise<void> | undefined;
  return {
    port,
    stats: () => ({ ...sessions.stats, streams: streams.size }),
    setServing: (environment, isServing) => health.set(environment, isServing),
    close: (graceMs = 0) => (stopped ??= stop(graceMs)),
  };
}
