import { Server, ServerCredentials } from "@grpc/grpc-js";
import { silentLogger } from "@mrlm/kit/service";
import type { ServerTls, Tokens } from "@mrlm/kit/access";
import type { Logger } from "@mrlm/spec";
import { HEALTH_SERVICE, REFLECTION_SERVICES, STORE_SERVICE } from "@mrlm/wire";
import { listen } from "../listen.ts";
import { requireToken } from "../service/authentication.ts";
import { TlsCredentials } from "../service/tls-credentials.ts";
import { tryShutdown } from "../shutdown.ts";
import { Health } from "../standard/health.ts";
import { reflectionMethods } from "../standard/reflection.ts";
import { withUndecodable } from "../unary.ts";
import { ClientCalls } from "./client-calls.ts";
import { storeMethods, type StoreSource } from "./store-methods.ts";
import { storeStreams } from "./store-streams.ts";

/** Options of {@link serveStore}. */
export interface ServeStoreOptions {
  /** The store. Closing the server does not close it. */
  readonly source: StoreSource;
  /** `host:port`; port 0 takes any free port. */
  readonly address: string;
  /** Largest message in bytes. Default: 64 MiB. */
  readonly maxMessageBytes?: number;
  /** Receives unexpected errors, whose messages clients do not get. */
  readonly logger?: Logger;
  /** Tokens of which every call but a health check must carry one as `authorization: Bearer TOKEN`. Default: none. */
  readonly tokens?: Tokens;
  /** Certificate of the server. Default: plain TCP. */
  readonly tls?: ServerTls;
  /** Silence after which a client must answer a ping, within a third of it, in milliseconds. Default: 30,000. */
  readonly keepaliveMs?: number;
}

/** Running store server. */
export interface StoreServer {
  readonly port: number;
  /** Ends the watches, waits up to `graceMs` for the calls under way, and stops. */
  close(graceMs?: number): Promise<void>;
}

const SERVICES = ["mrlm.store.v1.StoreService", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"];

/** Serves an episode store over gRPC, with health and reflection. Rejects with PORT_IN_USE. */
export async function serveStore(options: ServeStoreOptions): Promise<StoreServer> {
  const { source, tokens, maxMessageBytes = 64 << 20, keepaliveMs = 30_000, logger = silentLogger } = options;
  const server = new Server({
    "grpc.max_receive_message_length": maxMessageBytes,
    "grpc.max_send_message_length": -1,
    // Detects that a client's machine is gone.
    "grpc.keepalive_time_ms": keepaliveMs,
    "grpc.keepalive_timeout_ms": keepaliveMs / 3,
    ...(tokens === undefined ? {} : { interceptors: [requireToken(tokens, () => undefined)] }),
  });
  const stopped = new AbortController();
  const calls = new ClientCalls();
  const health = new Health(SERVICES);
  server.addService(withUndecodable(STORE_SERVICE), {
    ...storeMethods(source, calls, logger),
    ...storeStreams(source, calls, { logger, stop: stopped.signal, tokens }),
  });
  server.addService(HEALTH_SERVICE, health.methods);
  for (const service of REFLECTION_SERVICES) server.addService(service, reflectionMethods(SERVICES));
  const credentials = options.tls === undefined ? undefined : new TlsCredentials(options.tls);
  const port = await listen(server, options.address, credentials ?? ServerCredentials.createInsecure()).catch(
    (error: unknown) => {
      credentials?.dispose();
      throw error;
    },
  );
  return {
    port,
    async close(graceMs = 0) {
      health.stop();
      health.close();
      stopped.abort();
      await tryShutdown(server, graceMs);
      server.forceShutdown();
      credentials?.dispose();
    },
  };
}
