import { randomBytes } from "node:crypto";
import { Metadata } from "@grpc/grpc-js";
import { type Demonstration, type Logger, MrlmError, type TaskId } from "@mrlm/spec";
import type {
  EnvironmentDescription,
  EnvironmentHost,
  EnvironmentRef,
  EnvironmentServerState,
  EnvironmentSession,
  OpenOptions,
} from "@mrlm/spec/host";
import {
  CLIENT_METADATA_KEY,
  PROTOCOLS,
  ENVIRONMENT_SERVICE,
  demonstrationCodec,
  descriptionCodec,
  environmentRefCodec,
  type environmentProto as wire,
} from "@mrlm/wire";
import { Authorization, type TokenSource } from "../connection/authorization.ts";
import type { Channel } from "../connection/channel.ts";
import type { Connection } from "../connection/connection.ts";
import { serverConnection } from "../connection/server-connection.ts";
import type { TlsSource } from "../connection/tls.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { RemoteEnvironment } from "./remote-environment.ts";
import type { ServerAddress } from "./server-addresses.ts";
import { ServerLoad } from "./server-load.ts";
import type { SessionTransport } from "./session-transport.ts";
import { StreamTransport } from "./stream-transport.ts";
import { UnaryTransport } from "./unary-transport.ts";

/** Options of {@link connectEnvironments}. */
export interface ConnectEnvironmentsOptions {
  /** Longest wait for a server that does not answer yet, in milliseconds. Default: 10,000. */
  readonly connectMs?: number;
  /** Longest wait of a call for a server that was lost, in milliseconds. Default: 60,000. */
  readonly reconnectMs?: number;
  /** Lease of the sessions in milliseconds, renewed in the background while a session is open. Default: 60,000. */
  readonly leaseMs?: number;
  /** `stream` multiplexes all sessions; `unary` makes one call for each request. Default: `stream`. */
  readonly transport?: "stream" | "unary";
  /** Largest message from a server in bytes. Default: 256 MiB. */
  readonly maxMessageBytes?: number;
  /** Token of this client in the server's `--token-file`; or a function that returns the present one, which is called when the server refuses the one in use. */
  readonly token?: TokenSource;
  /** For a server with `--tls-cert`, `{}` if an authority that Node trusts has signed its certificate; or a function that is called for each connection. Default: plain TCP. */
  readonly tls?: TlsSource;
  /** Silence after which a server must answer a ping, within a third of it, in milliseconds. Otherwise the connection is lost. Default: 30,000. */
  readonly keepaliveMs?: number;
  /** Receives servers, of several, that are lost, found again, added or removed. */
  readonly logger?: Pick<Logger, "info" | "warn">;
}

/** Demonstrations requested in one call. */
const DEMONSTRATION_BATCH = 256;
/** Limit of descriptions that are kept for one channel. */
const MAX_DESCRIPTIONS = 256;

/** Returns the id of the first session of an episode that a session of this package had, if it is one. */
function restoredEpisode(
  restores: (EnvironmentSession & { readonly episode?: unknown }) | undefined,
): Uint8Array | undefined {
  return restores?.episode instanceof Uint8Array ? restores.episode : undefined;
}

/** Age at which a description is requested again. */
const DESCRIBED_MS = 10_000;

/** Descriptions by environment and options, with the time of their request. */
type Descriptions = Map<string, { readonly promise: Promise<EnvironmentDescription>; readonly at: number }>;

/** Host of the environments of one server. */
export class RemoteHost implements EnvironmentHost {
  readonly #connection: Connection;
  readonly #transport: SessionTransport;
  readonly #leases: LeaseKeeper;
  readonly #leaseMs: number;
  readonly #reconnectMs: number;
  /** Descriptions by channel: a server that was restarted may offer other environments. */
  readonly #descriptions = new WeakMap<Channel, Descriptions>();
  /** Number of sessions that are being opened. */
  #opening = 0;
  #load: ServerLoad | undefined;
  #isClosing = false;

  /** @param onLost called when the server was connected and its connection is lost */
  constructor(server: ServerAddress, options: ConnectEnvironmentsOptions = {}, onLost?: () => void) {
    const { reconnectMs = 60_000, leaseMs = 60_000, keepaliveMs = 30_000, maxMessageBytes = 256 << 20 } = options;
    const metadata = new Metadata();
    metadata.set(CLIENT_METADATA_KEY, randomBytes(16).toString("hex"));
    const authorization = new Authorization(metadata, options.token);
    const about = {
      kind: "The environment server",
      unavailable: "SERVER_UNAVAILABLE",
      failed: "INTERNAL",
      tls: options.tls,
      keepaliveMs,
      onLost: (): void => {
        if (this.#isClosing) this.#transport.end();
        onLost?.();
      },
      ask: (channel: Channel, signal: AbortSignal) =>
        channel.unary(ENVIRONMENT_SERVICE.renew, { sessionIds: [] }, [signal]),
    } as const;
    this.#connection = serverConnection({ ...server, ...about }, authorization);
    this.#transport =
      options.transport === "unary"
        ? new UnaryTransport(this.#connection, reconnectMs)
        : new StreamTransport(this.#connection, reconnectMs, maxMessageBytes);
    this.#leases = new LeaseKeeper(this.#transport);
    this.#leaseMs = leaseMs;
    this.#reconnectMs = reconnectMs;
  }

  /** Sessions that are open or being opened. */
  get sessions(): number {
    return this.#leases.sessions.size + this.#opening;
  }

  /** Use of the server, by its latest description. */
  get load(): ServerLoad | undefined {
    return this.#load;
  }

  get isConnected(): boolean {
    return this.#connection.isConnected;
  }

  servers(): readonly EnvironmentServerState[] {
    return [{ address: this.#connection.address, isConnected: this.isConnected }];
  }

  /** Reason of the latest failure to reach the server. */
  get failure(): string {
    return this.#connection.failure;
  }

  /** Connects for the first time. Rejects with SERVER_UNAVAILABLE or PROTOCOL_VERSION. */
  async connect(connectMs: number): Promise<void> {
    await this.#describe(undefined, connectMs);
  }

  /** Requests the server's use, in total and of an environment. @param waitMs longest wait for a lost server */
  async refresh(environment: EnvironmentRef | undefined, waitMs: number): Promise<void> {
    await this.#describe(environment, waitMs);
  }

  async list(): Promise<readonly EnvironmentDescription[]> {
    return this.#describe(undefined, this.#reconnectMs);
  }

  /** Makes one call for each environment and channel. Later descriptions are at most one use behind: the server may replace packages. */
  async describe(environment: EnvironmentRef): Promise<EnvironmentDescription> {
    const channel = await this.#connection.reach({ waitMs: this.#reconnectMs });
    const known = this.#descriptions.get(channel) ?? new Map();
    this.#descriptions.set(channel, known);
    const key = `${environment.id} ${JSON.stringify(environment.options ?? {})}`;
    const description = known.get(key);
    if (description !== undefined) {
      if (performance.now() - description.at > DESCRIBED_MS) this.#renew(known, key, environment);
      return description.promise;
    }
    if (known.size >= MAX_DESCRIPTIONS) known.clear();
    const requested = this.#describeOne(environment);
    known.set(key, { promise: requested, at: performance.now() });
    requested.catch(() => known.delete(key));
    return requested;
  }

  /** Replaces a description by a later one as soon as the server has answered. */
  #renew(known: Descriptions, key: string, environment: EnvironmentRef): void {
    const at = performance.now();
    const { promise } = known.get(key) as { promise: Promise<EnvironmentDescription> };
    known.set(key, { promise, at });
    this.#describeOne(environment).then(
      (description) => void known.set(key, { promise: Promise.resolve(description), at }),
      // A session gets the error.
      () => void known.delete(key),
    );
  }

  async open(environment: EnvironmentRef, { restores }: OpenOptions = {}): Promise<RemoteEnvironment> {
    this.#opening++;
    try {
      const description = await this.describe(environment);
      const session: RemoteEnvironment = new RemoteEnvironment(
        environment,
        description,
        this.#transport,
        this.#leaseMs,
        {
          episode: restoredEpisode(restores),
          onLease: (leaseMs) => this.#leases.granted(leaseMs),
          onClose: () => this.#leases.sessions.delete(session),
        },
      );
      this.#leases.sessions.add(session);
      return session;
    } finally {
      this.#opening--;
    }
  }

  async demonstrate(environment: EnvironmentRef, tasks: readonly TaskId[]): Promise<readonly Demonstration[]> {
    const ref = environmentRefCodec.encode(environment);
    const demonstrations: Demonstration[] = [];
    for (let start = 0; start < tasks.length || start === 0; start += DEMONSTRATION_BATCH) {
      const request: wire.DemonstrateRequest = {
        environment: ref,
        tasks: tasks.slice(start, start + DEMONSTRATION_BATCH),
      };
      const answer = await this.#connection.unary(ENVIRONMENT_SERVICE.demonstrate, request, {
        waitMs: this.#reconnectMs,
      });
      demonstrations.push(...answer.demonstrations.map(demonstrationCodec.decode));
    }
    return demonstrations;
  }

  async close(): Promise<void> {
    this.#leases.stop();
    // The leases end the sessions on a server that cannot be reached.
    this.#isClosing = true;
    if (!this.isConnected) this.#transport.end();
    await Promise.allSettled(Array.from(this.#leases.sessions, (session) => session.close()));
    this.#transport.end();
    this.#connection.close();
  }

  async #describeOne(environment: EnvironmentRef): Promise<EnvironmentDescription> {
    const [description] = await this.#describe(environment, this.#reconnectMs);
    if (description !== undefined) return description;
    throw new MrlmError(
      "ENVIRONMENT_NOT_FOUND",
      `The server at ${this.#connection.address} has no environment "${environment.id}".`,
    );
  }

  async #describe(environment: EnvironmentRef | undefined, waitMs: number): Promise<EnvironmentDescription[]> {
    const request = { environment: environment && environmentRefCodec.encode(environment) };
    const before = this.sessions;
    const response = await this.#connection.unary(ENVIRONMENT_SERVICE.describe, request, { waitMs });
    const { protocolMajor, protocolMinor, environments } = response;
    if (protocolMajor !== PROTOCOLS.environment.major) {
      throw new MrlmError(
        "PROTOCOL_VERSION",
        `The environment server at ${this.#connection.address} uses version ${protocolMajor}.${protocolMinor} of the protocol, this client uses ${PROTOCOLS.environment.major}.${PROTOCOLS.environment.minor}.`,
      );
    }
    this.#load = new ServerLoad(response, environment?.id, before, this.#load);
    return environments.map(descriptionCodec.decode);
  }
}
