import type { Metadata } from "@grpc/grpc-js";
import { ENVIRONMENT_SERVICE, isConnectionLoss } from "@mrlm/wire";
import { Channel } from "../connection/channel.ts";
import { checkAddress } from "../connection/check-address.ts";
import { Connection } from "../connection/connection.ts";
import type { ServerAddress } from "./server-addresses.ts";

/**
 * Returns a connection to an environment server.
 * @throws MrlmError CONFIG_INVALID for an address of the wrong form
 */
export function serverConnection(
  { address, name }: ServerAddress,
  metadata: Metadata,
  { keepaliveMs, onLost }: { readonly keepaliveMs: number; readonly onLost: (() => void) | undefined },
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
  return new Connection({
    address,
    peer: `The environment server at ${address}`,
    unavailable: "SERVER_UNAVAILABLE",
    failed: "INTERNAL",
    open: () => new Channel(address, metadata, options),
    onLost,
    async probe(channel, signal) {
      try {
        await channel.unary(ENVIRONMENT_SERVICE.renew, { sessionIds: [] }, [signal]);
      } catch (error) {
        // Any answer shows that the server is there. The calls that wait get their own errors.
        if (signal.aborted || isConnectionLoss(error)) throw error;
      }
    },
  });
}
