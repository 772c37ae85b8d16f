import type { EnvironmentHost } from "@mrlm/spec/host";
import { HostPool } from "./host-pool.ts";
import { type ConnectEnvironmentsOptions, RemoteHost } from "./remote-host.ts";
import { ServerAddresses } from "./server-addresses.ts";

/**
 * Connects to one or several environment servers.
 *
 * Sessions behave as sessions in this process. After a connection loss, calls wait until the server is back. A step of a session that
 * the server lost rejects with SESSION_NOT_FOUND, and the next reset starts a new episode, on another server if there are several. Of
 * several servers one must answer; the others get sessions as soon as they answer.
 * @param addresses `host:port`, `[IPv6]:port` or `dns:NAME:PORT`: every address of the name, which is resolved again every 30 s and after
 *   losses
 * @throws MrlmError SERVER_UNAVAILABLE when none answers within `connectMs`; TLS_FAILED; UNAUTHENTICATED; PROTOCOL_VERSION; CONFIG_INVALID
 *   for an address of the wrong form, and for a certificate that cannot be used
 */
export async function connectEnvironments(
  addresses: string | readonly string[],
  options: ConnectEnvironmentsOptions = {},
): Promise<EnvironmentHost> {
  const servers = new ServerAddresses(typeof addresses === "string" ? [addresses] : addresses);
  const host = servers.single === undefined ? new HostPool(servers, options) : new RemoteHost(servers.single, options);
  try {
    await host.connect(options.connectMs ?? 10_000);
  } catch (error) {
    await host.close();
    throw error;
  }
  return host;
}
