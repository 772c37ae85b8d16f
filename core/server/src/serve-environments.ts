import { randomUUID } from "node:crypto";
import { Server, ServerCredentials, type ServerDuplexStream } from "@grpc/grpc-js";
import { silentLogger } from "@mrlm/kit";
import type { EnvironmentHost, Logger } from "@mrlm/spec";
import { ENVIRONMENT_SERVICE, HEALTH_SERVICE, REFLECTION_SERVICES, type Serialised } from "@mrlm/wire";
import { listen } from "./listen.ts";
import { requireToken } from "./service/authentication.ts";
import { identityOf } from "./service/identity.ts";
import { MultiplexedClient } from "./service/multiplexed-client.ts";
import { unaryMethods } from "./service/unary-methods.ts";
import { type SessionStats, SessionTable } from "./sessions/session-table.ts";
import { Health } from "./standard/health.ts";
import { reflectionMethods } from "./standard/reflection.ts";
import { VERSION } from "./version.ts";

/** What to serve, and within which limits. */
export interface ServeEnvironmentsOptions {
  /** Whose environments are served. It stays the caller's: closing the server does not close it. */
  readonly host: EnvironmentHost;
  /** `host:port`; port 0 takes any free one. */
  readonly address: string;
  /** Live sessions at a time; 4096 unless given. */
  readonly maxSessions?: number;
  /** Resets that may wait for room; 1024 unless given. Past that they are refused with RESOURCE_EXHAUSTED. */
  readonly maxQueue?: number;
  /** How long they may wait, in milliseconds; 30,000 unless given. */
  readonly queueMs?: number;
  /** A session is closed when nothing was heard of it for so long, where its client does not say otherwise; 60,000 unless given. */
  readonly leaseMs?: number;
  /** The longest lease that a client may ask for; an hour unless given. */
  readonly maxLeaseMs?: number;
  /** Largest message; 64 MiB unless given. */
  readonly maxMessageBytes?: number;
  /** Told of environments that could not be closed, and of faults of which a client learns only that they happened. */
  readonly logger?: Logger;
  /** What every call must carry as `authorization: Bearer TOKEN`, health checks excepted; none unless given. */
  readonly token?: string;
  /** Whether clients are given worked solutions of training tasks; false unless given. Options of clients decide which tasks are training tasks. */
  readonly demonstrations?: boolean;
  /** Plain TCP unless given. */
  readonly credentials?: ServerCredentials;
}

/** A server at work. */
export interface EnvironmentServer {
  readonly port: number;
  stats(): SessionStats & { readonly streams: number };
  /** Opens no new sessions, waits up to `graceMs` for those that live, then ends them and stops. */
  close(graceMs?: number): Promise<void>;
}

/** Calls under way on one connection: one for each session, those that wait for room included, and as many again. */
const MAX_CALLS = 8_192;

const SERVICES = ["mrlm.env.v1.EnvironmentService", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"];

/** Serves the environments of a host over gRPC, with health and reflection. Rejects with PORT_IN_USE. */
export async function serveEnvironments(options: ServeEnvironmentsOptions): Promise<EnvironmentServer> {
  const { host, maxMessageBytes = 64 << 20, leaseMs = 60_000, logger = silentLogger } = options;
  const limits = {
    admission: {
      places: options.maxSessions ?? 4096,
      queue: options.maxQueue ?? 1024,
      queueMs: options.queueMs ?? 30_000,
    },
    leases: { defaultMs: leaseMs, maxMs: options.maxLeaseMs ?? 3_600_000 },
    sweepMs: Math.min(1_000, Math.max(10, leaseMs / 4)),
  };
  const table = new SessionTable(host, limits, logger);
  const streams = new Set<MultiplexedClient>();
  const health = new Health(SERVICES);
  const server = new Server({
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": -1,
    // Each call takes memory; what a client has beyond that waits on its side.
    "grpc.max_concurrent_streams": MAX_CALLS,
    // Finds out that a client's machine is gone.
    "grpc.keepalive_time_ms": 30_000,
    "grpc.keepalive_timeout_ms": 10_000,
    ...(options.token === undefined ? {} : { interceptors: [requireToken(options.token)] }),
  });
  server.addService(ENVIRONMENT_SERVICE, {
    ...unaryMethods(
      host,
      table,
      { instanceId: randomUUID(), version: VERSION, demonstrations: options.demonstrations ?? false },
      logger,
    ),
    multiplex: (call: ServerDuplexStream<Serialised, Serialised>) => {
      const client = new MultiplexedClient(call, identityOf(call), { table, logger, maxMessageBytes });
      streams.add(client);
      call.on("close", () => streams.delete(client));
    },
  });
  server.addService(HEALTH_SERVICE, health.methods);
  for (const service of REFLECTION_SERVICES) server.addService(service, reflectionMethods(SERVICES));
  const port = await listen(server, options.address, options.credentials ?? ServerCredentials.createInsecure()).catch(
    async (error: unknown) => {
      await table.endAll();
      throw error;
    },
  );

  const stop = async (graceMs: number): Promise<void> => {
    health.stop();
    await within(table.drain(), graceMs);
    await table.endAll();
    health.close();
    for (const client of streams) client.end();
    await within(new Promise<void>((resolve) => server.tryShutdown(() => resolve())), 1_000);
    server.forceShutdown();
  };
  let stopped: Promise<void> | undefined;
  return {
    port,
    stats: () => ({ ...table.stats, streams: streams.size }),
    close: (graceMs = 0) => (stopped ??= stop(graceMs)),
  };
}

/** Waits for something, but no longer than that. */
async function within(promise: Promise<void>, milliseconds: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
