import { randomBytes } from "node:crypto";
import { Metadata } from "@grpc/grpc-js";
import {
  type Demonstration,
  type EnvironmentDescription,
  type EnvironmentHost,
  type EnvironmentRef,
  MrlmError,
  type TaskId,
} from "@mrlm/spec";
import {
  CLIENT_METADATA_KEY,
  ENVIRONMENT_PROTOCOL,
  ENVIRONMENT_SERVICE,
  decodeDemonstration,
  decodeDescription,
  encodeEnvironmentRef,
  type environmentProto as wire,
} from "@mrlm/wire";
import { authorize } from "../connection/authorization.ts";
import { ServerConnection } from "./connection.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { RemoteEnvironment } from "./remote-environment.ts";
import type { SessionTransport } from "./session-transport.ts";
import { StreamTransport } from "./stream-transport.ts";
import { UnaryTransport } from "./unary-transport.ts";

/** How to reach environment servers. */
export interface ConnectEnvironmentsOptions {
  /** How long to wait for a server that does not answer yet, in milliseconds; 10,000 unless given. */
  readonly connectMs?: number;
  /** How long calls wait for a server that was lost, in milliseconds; 60,000 unless given. */
  readonly reconnectMs?: number;
  /** Lease of the sessions; 60,000 unless given. It is renewed in the background while a session is open. */
  readonly leaseMs?: number;
  /** `stream` (unless given) multiplexes all sessions; `unary` makes one call for each request. */
  readonly transport?: "stream" | "unary";
  /** Largest message from a server; 256 MiB unless given. */
  readonly maxMessageBytes?: number;
  /** What the server's `--token-file` holds. */
  readonly token?: string;
}

/** Demonstrations asked for in one call. */
const DEMONSTRATION_BATCH = 256;
/** How long other servers come first after this one could not be reached. */
const AVOIDED_MS = 30_000;
/** Descriptions of environments under different options that are kept. */
const MAX_DESCRIPTIONS = 256;

/** The environments of one server. */
export class RemoteHost implements EnvironmentHost {
  readonly #connection: ServerConnection;
  readonly #transport: SessionTransport;
  readonly #leases: LeaseKeeper;
  readonly #leaseMs: number;
  readonly #reconnectMs: number;
  /** What the server was asked about, or is being asked about, by environment and options. */
  readonly #offered = new Map<string, Promise<EnvironmentDescription>>();
  /** Sessions that are being opened. */
  #opening = 0;
  #avoidUntil = 0;

  constructor(address: string, options: ConnectEnvironmentsOptions = {}) {
    const { reconnectMs = 60_000, leaseMs = 60_000, maxMessageBytes = 256 << 20 } = options;
    const metadata = authorize(new Metadata(), options.token);
    metadata.set(CLIENT_METADATA_KEY, randomBytes(16).toString("hex"));
    this.#connection = new ServerConnection(address, metadata);
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

  /** A session could not reach the server, lately enough to try others first. */
  get isAvoided(): boolean {
    return performance.now() < this.#avoidUntil;
  }

  /** Reaches the server for the first time. Rejects with SERVER_UNAVAILABLE or PROTOCOL_VERSION. */
  async connect(connectMs: number): Promise<void> {
    await this.#describe(undefined, connectMs);
  }

  async list(): Promise<readonly EnvironmentDescription[]> {
    return this.#describe(undefined, this.#reconnectMs);
  }

  async describe(environment: EnvironmentRef): Promise<EnvironmentDescription> {
    const [description] = await this.#describe(environment, this.#reconnectMs);
    if (description === undefined)
      throw new MrlmError(
        "ENVIRONMENT_NOT_FOUND",
        `The server at ${this.#connection.address} has no environment "${environment.id}".`,
      );
    return description;
  }

  async open(environment: EnvironmentRef): Promise<RemoteEnvironment> {
    this.#opening++;
    try {
      await this.#assertOffered(environment);
    } finally {
      this.#opening--;
    }
    const session: RemoteEnvironment = new RemoteEnvironment(environment, this.#transport, this.#leaseMs, {
      onLease: (leaseMs) => {
        this.#leases.granted(leaseMs);
        this.#avoidUntil = 0;
      },
      onUnreachable: () => (this.#avoidUntil = performance.now() + AVOIDED_MS),
      onClose: () => this.#leases.sessions.delete(session),
    });
    this.#leases.sessions.add(session);
    return session;
  }

  async demonstrate(environment: EnvironmentRef, tasks: readonly TaskId[]): Promise<readonly Demonstration[]> {
    const ref = encodeEnvironmentRef(environment);
    const demonstrations: Demonstration[] = [];
    for (let start = 0; start < tasks.length || start === 0; start += DEMONSTRATION_BATCH) {
      const request: wire.DemonstrateRequest = {
        environment: ref,
        tasks: tasks.slice(start, start + DEMONSTRATION_BATCH),
      };
      const answer = await this.#connection.unary(ENVIRONMENT_SERVICE.demonstrate, request, {
        retryMs: this.#reconnectMs,
      });
      demonstrations.push(...answer.demonstrations.map(decodeDemonstration));
    }
    return demonstrations;
  }

  async close(): Promise<void> {
    this.#leases.stop();
    await Promise.allSettled(Array.from(this.#leases.sessions, (session) => session.close()));
    this.#transport.end();
    this.#connection.close();
  }

  /** Rejects at once where a session could not be opened, as a host in this process does. */
  async #assertOffered(environment: EnvironmentRef): Promise<void> {
    const key = `${environment.id} ${JSON.stringify(environment.options ?? {})}`;
    const known = this.#offered.get(key);
    if (known !== undefined) return void (await known);
    const asked = this.describe(environment);
    this.#offered.set(key, asked);
    const [oldest] = this.#offered.keys();
    if (this.#offered.size > MAX_DESCRIPTIONS && oldest !== undefined) this.#offered.delete(oldest);
    asked.catch(() => this.#offered.delete(key));
    await asked;
  }

  async #describe(environment: EnvironmentRef | undefined, retryMs: number): Promise<EnvironmentDescription[]> {
    const request = { environment: environment && encodeEnvironmentRef(environment) };
    const { protocolMajor, protocolMinor, environments } = await this.#connection.unary(
      ENVIRONMENT_SERVICE.describe,
      request,
      { retryMs },
    );
    if (protocolMajor !== ENVIRONMENT_PROTOCOL.major) {
      throw new MrlmError(
        "PROTOCOL_VERSION",
        `The environment server at ${this.#connection.address} speaks version ${protocolMajor}.${protocolMinor} of the protocol, this client ${ENVIRONMENT_PROTOCOL.major}.${ENVIRONMENT_PROTOCOL.minor}.`,
      );
    }
    return environments.map(decodeDescription);
  }
}
