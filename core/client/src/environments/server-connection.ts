import { type ServiceError, status } from "@grpc/grpc-js";
import { ENVIRONMENT_SERVICE, isConnectionLoss } from "@mrlm/wire";
import type { Authorization } from "../connection/authorization.ts";
import { Channel } from "../connection/channel.ts";
import { checkAddress } from "../connection/check-address.ts";
import { connectionLoss } from "../connection/connection-loss.ts";
import { Connection } from "../connection/connection.ts";
import { channelSecurity, type ClientTls, type TlsSource } from "../connection/tls.ts";
import { tlsFault } from "../connection/tls-fault.ts";
import type { ServerAddress } from "./server-addresses.ts";

/**
 * Returns a connection to an environment server.
 * @throws MrlmError CONFIG_INVALID for an address of the wrong form, and for a certificate that cannot be used
 */
export function serverConnection(
  { address, name }: ServerAddress,
  authorization: Authorization,
  {
    tls,
    keepaliveMs,
    onLost,
  }: {
    readonly tls: TlsSource | undefined;
    readonly keepaliveMs: number;
    readonly onLost: (() => void) | undefined;
  },
): Connection {
  checkAddress(address);
  const options = {
    // Detects that the server's machine is gone while calls wait for it.
    "grpc.keepalive_time_ms": keepaliveMs,
    "grpc.keepalive_timeout_ms": keepaliveMs / 3,
    // A large message is sent without a wait for window updates.
    "grpc-node.flow_control_window": 8 << 20,
    ...(name === undefined ? undefined : { "grpc.default_authority": name }),
  };
  /** Returns the present settings of TLS. The certificate states the name that was resolved. */
  const security = (): ClientTls | undefined => {
    const present = typeof tls === "function" ? tls() : tls;
    return present === undefined || name === undefined ? present : { serverName: name, ...present };
  };
  channelSecurity(address, security());
  return new Connection({
    address,
    peer: `The environment server at ${address}`,
    unavailable: "SERVER_UNAVAILABLE",
    failed: "INTERNAL",
    open() {
      const { credentials, options: tlsOptions } = channelSecurity(address, security());
      return new Channel(address, authorization.metadata, { ...options, ...tlsOptions }, credentials);
    },
    onLost,
    async probe(channel, signal) {
      try {
        await channel.unary(ENVIRONMENT_SERVICE.renew, { sessionIds: [] }, [signal]);
      } catch (error) {
        // Any answer shows that the server is there. The calls that wait get their own errors.
        if (signal.aborted || isConnectionLoss(error)) throw error;
        if ((error as ServiceError).code === status.UNAUTHENTICATED && authorization.renew())
          throw connectionLoss("it does not accept the token");
      }
    },
    fault: () => tlsFault(address, security()),
    renew: () => authorization.renew(),
  });
}
