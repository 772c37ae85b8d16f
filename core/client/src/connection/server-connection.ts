import { defined } from "@mrlm/spec";
import { type ServiceError, status } from "@grpc/grpc-js";
import { isConnectionLoss, type StatusCodes } from "@mrlm/wire";
import type { Authorization } from "./authorization.ts";
import { Channel } from "./channel.ts";
import { checkAddress } from "./check-address.ts";
import { connectionLoss } from "./connection-loss.ts";
import { Connection } from "./connection.ts";
import { channelSecurity, type ClientTls, type TlsSource } from "./tls.ts";
import { tlsFault } from "./tls-fault.ts";

/** Server of this project with tokens and TLS. */
export interface TlsServer extends Omit<StatusCodes, "peer"> {
  readonly address: string;
  /** Name that its certificate must have, where it was resolved from a name. */
  readonly name?: string | undefined;
  /** Subject of the messages without the address: "The environment server". */
  readonly kind: string;
  readonly tls: TlsSource | undefined;
  readonly keepaliveMs: number;
  readonly onLost: (() => void) | undefined;
  /** Calls the server. Any answer shows that it is there. */
  ask(channel: Channel, signal: AbortSignal): Promise<unknown>;
}

/**
 * Returns a connection to a server.
 * @throws MrlmError CONFIG_INVALID for an address of the wrong form, and for a certificate that cannot be used
 */
export function serverConnection(
  { address, name, kind, tls, keepaliveMs, onLost, ask, ...codes }: TlsServer,
  authorization: Authorization,
): Connection {
  checkAddress(address);
  const options = {
    // Detects that the server's machine is gone while calls wait for it.
    "grpc.keepalive_time_ms": keepaliveMs,
    "grpc.keepalive_timeout_ms": keepaliveMs / 3,
    // A large message is sent without a wait for window updates.
    "grpc-node.flow_control_window": 8 << 20,
    ...defined({ "grpc.default_authority": name }),
  };
  /** Returns the present settings of TLS. The certificate states the name that was resolved. */
  const security = (): ClientTls | undefined => {
    const present = typeof tls === "function" ? tls() : tls;
    return present === undefined || name === undefined ? present : { serverName: name, ...present };
  };
  channelSecurity(address, security());
  return new Connection({
    address,
    peer: `${kind} at ${address}`,
    ...codes,
    open() {
      const { credentials, options: tlsOptions } = channelSecurity(address, security());
      return new Channel(address, authorization.metadata, { ...options, ...tlsOptions }, credentials);
    },
    onLost,
    async probe(channel, signal) {
      try {
        await ask(channel, signal);
      } catch (error) {
        // The calls that wait get their own errors.
        if (signal.aborted || isConnectionLoss(error)) throw error;
        if ((error as ServiceError).code === status.UNAUTHENTICATED && authorization.renew())
          throw connectionLoss("it does not accept the token");
      }
    },
    fault: () => tlsFault(address, security()),
    renew: () => authorization.renew(),
  });
}
