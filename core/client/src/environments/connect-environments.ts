import { type EnvironmentHost, MrlmError } from "@mrlm/spec";
import { HostPool } from "./host-pool.ts";
import { type ConnectEnvironmentsOptions, RemoteHost } from "./remote-host.ts";

/**
 * Connects to one or several environment servers.
 *
 * Sessions behave as sessions in this process. After a connection loss, calls wait until the server is back. A step of a session that
 * the server lost rejects with SESSION_NOT_FOUND, and the next reset starts a new episode.
 * @param addresses `host:port`
 * @throws MrlmError SERVER_UNAVAILABLE when one does not answer within `connectMs`; UNAUTHENTICATED; PROTOCOL_VERSION; CONFIG_INVALID for an address without a port
 */
export async function connectEnvironments(
  addresses: string | readonly string[],
  options: ConnectEnvironmentsOptions = {},
): Promise<EnvironmentHost> {
  const list = typeof addresses === "string" ? [addresses] : addresses;
  if (list.length === 0) throw new MrlmError("CONFIG_INVALID", "No address of an environment server was given.");
  const hosts = list.map((address) => new RemoteHost(address, options));
  try {
    await Promise.all(hosts.map((host) => host.connect(options.connectMs ?? 10_000)));
  } catch (error) {
    await Promise.all(hosts.map((host) => host.close()));
    throw error;
  }
  return hosts.length === 1 ? (hosts[0] as RemoteHost) : new HostPool(hosts);
}
