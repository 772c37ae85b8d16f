import type { Metadata } from "@grpc/grpc-js";
import { ENVIRONMENT_SERVICE, isConnectionLoss } from "@mrlm/wire";
import { Channel } from "../connection/channel.ts";
import { checkAddress } from "../connection/check-address.ts";
import { Connection } from "../connection/connection.ts";

const CHANNEL_OPTIONS = {
  // Detects that the server's machine is gone while calls wait for it.
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 10_000,
  // A large message is sent without a wait for window updates.
  "grpc-node.flow_control_window": 8 << 20,
};

/**
 * Returns a connection to an environment server.
 * @throws MrlmError CONFIG_INVALID for an address without a port
 */
export function serverConnection(address: string, metadata: Metadata): Connection {
  checkAddress(address);
  return new Connection({
    address,
    peer: `The environment server at ${address}`,
    unavailable: "SERVER_UNAVAILABLE",
    failed: "INTERNAL",
    open: () => new Channel(address, metadata, CHANNEL_OPTIONS),
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
