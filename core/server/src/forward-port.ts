import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { ServerTls } from "@mrlm/kit/access";
import { bindError } from "./listen.ts";

/** Longest handshake in milliseconds. */
const HANDSHAKE_MS = 10_000;
/** Silence after which the system examines whether the other machine is still there, in milliseconds. */
const KEEPALIVE_MS = 30_000;

/** Options of {@link forwardPort}. */
export interface ForwardPortOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** `host:port` of a gRPC server on this machine. */
  readonly to: string;
  /** Certificate of the new address. Default: plain TCP. */
  readonly tls?: ServerTls;
}

/** Address at which a server of this machine is offered. */
export interface ForwardedPort {
  readonly port: number;
  /** Ends all connections. */
  close(): Promise<void>;
}

/**
 * Offers a gRPC server that listens on loopback at another address, with TLS. It changes no byte, so that the server itself checks tokens. Rejects with
 * PORT_IN_USE, and with CONFIG_INVALID for an address that is not of this machine.
 */
export async function forwardPort({ host, port, to, tls }: ForwardPortOptions): Promise<ForwardedPort> {
  const end = to.lastIndexOf(":");
  const target = { host: to.slice(0, end).replace(/^\[(.*)\]$/, "$1"), port: Number(to.slice(end + 1)) };
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    // An error is followed by "close".
    return socket
      .setNoDelay(true)
      .on("error", () => undefined)
      .on("close", () => sockets.delete(socket));
  };
  const forward = (client: Socket): void => {
    const server = keep(connect(target));
    keep(client).pipe(server).pipe(client);
    client.on("close", () => server.destroy());
    server.on("close", () => client.destroy());
  };
  const common = { keepAlive: true, keepAliveInitialDelay: KEEPALIVE_MS };
  let stopFollowing = (): void => undefined;
  let listening: Server;
  if (tls === undefined) listening = createServer(common, forward);
  else {
    const secure = createTlsServer(
      {
        ...common,
        ...tls.identity,
        requestCert: tls.identity.ca !== undefined,
        handshakeTimeout: HANDSHAKE_MS,
        ALPNProtocols: ["h2"],
      },
      forward,
    );
    // A connection before its handshake has no socket of TLS.
    secure.on("connection", keep);
    stopFollowing = tls.onReplaced(() => secure.setSecureContext(tls.identity));
    listening = secure;
  }
  try {
    listening.listen(port, host);
    await once(listening, "listening");
  } catch (error) {
    stopFollowing();
    throw bindError(`${host.includes(":") ? `[${host}]` : host}:${port}`, error as Error);
  }
  return {
    port: (listening.address() as AddressInfo).port,
    async close() {
      stopFollowing();
      const closed = once(listening, "close");
      listening.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
