import { randomBytes } from "node:crypto";
import { Metadata } from "@grpc/grpc-js";
import { MrlmError } from "@mrlm/spec";
import { CLIENT_METADATA_KEY, PROTOCOLS, STORE_SERVICE } from "@mrlm/wire";
import { Authorization, type TokenSource } from "../connection/authorization.ts";
import type { Channel } from "../connection/channel.ts";
import { serverConnection } from "../connection/server-connection.ts";
import type { TlsSource } from "../connection/tls.ts";
import { RemoteStore } from "./remote-store.ts";
import type { ServedStore } from "./served-store.ts";

/** Options of {@link connectStore}. */
export interface ConnectStoreOptions {
  /** Longest wait for a server that does not answer yet, in milliseconds. Default: 10,000. */
  readonly connectMs?: number;
  /** Longest wait of a call for a server that was lost, in milliseconds. Default: 600,000. */
  readonly reconnectMs?: number;
  /** Token of this client in the server's `--token-file`; or a function that returns the present one, which is called when the server refuses the one in use. */
  readonly token?: TokenSource;
  /** For a server with `--tls-cert`, `{}` if an authority that Node trusts has signed its certificate; or a function that is called for each connection. Default: plain TCP. */
  readonly tls?: TlsSource;
  /** Silence after which a server must answer a ping, within a third of it, in milliseconds. Otherwise the connection is lost. Default: 30,000. */
  readonly keepaliveMs?: number;
  /** Ends every call, also those that wait for a lost server. */
  readonly signal?: AbortSignal;
  /** Called when the server was connected and its connection is lost. */
  readonly onLost?: () => void;
}

/**
 * Connects to a server of `mrlm store serve`. Calls wait for a server that is lost, and are made again. Rejects with STORE_UNAVAILABLE when nothing answers at
 * the address, with UNAUTHENTICATED for a wrong token, with TLS_FAILED, and with PROTOCOL_VERSION for a server of another major version.
 *
 * @param address `host:port`
 */
export async function connectStore(address: string, options: ConnectStoreOptions = {}): Promise<ServedStore> {
  const { connectMs = 10_000, reconnectMs = 600_000, keepaliveMs = 30_000, signal } = options;
  const metadata = new Metadata();
  metadata.set(CLIENT_METADATA_KEY, randomBytes(16).toString("hex"));
  const connection = serverConnection(
    {
      address,
      kind: "The store server",
      unavailable: "STORE_UNAVAILABLE",
      failed: "STORE_FAILED",
      tls: options.tls,
      keepaliveMs,
      onLost: options.onLost,
      ask: (channel: Channel, end: AbortSignal) => channel.unary(STORE_SERVICE.describe, {}, [end]),
    },
    new Authorization(metadata, options.token),
  );
  const signals = signal === undefined ? [] : [signal];
  try {
    const { protocolMajor, protocolMinor } = await connection.unary(
      STORE_SERVICE.describe,
      {},
      { signals, waitMs: connectMs },
    );
    if (protocolMajor !== PROTOCOLS.store.major)
      throw new MrlmError(
        "PROTOCOL_VERSION",
        `The store server at ${address} uses protocol ${protocolMajor}.${protocolMinor}, this client uses ${PROTOCOLS.store.major}.${PROTOCOLS.store.minor}.`,
      );
    return new RemoteStore(connection, { signals, waitMs: reconnectMs });
  } catch (error) {
    connection.close();
    throw error;
  }
}
