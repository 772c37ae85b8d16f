import type { EnvironmentHost } from "@mrlm/spec";
import { connectEnvironments } from "@mrlm/client";
import { serveEnvironments } from "@mrlm/server";

/** A way to a host's environments. Closing what it returns does not close the host. */
export type Transport = (host: EnvironmentHost) => Promise<EnvironmentHost>;

/** The host itself, in this process. */
export const inProcess: Transport = async (host) => ({
  list: () => host.list(),
  describe: (environment) => host.describe(environment),
  open: (environment) => host.open(environment),
  demonstrate: (environment, tasks) => host.demonstrate(environment, tasks),
  close: async () => undefined,
});

/** A server of the host on a free port of the loopback interface, and a client of it. */
export function overGrpc(options: { readonly transport?: "stream" | "unary" } = {}): Transport {
  return async (host) => {
    const server = await serveEnvironments({ host, address: "127.0.0.1:0", demonstrations: true });
    const remote = await connectEnvironments(`127.0.0.1:${server.port}`, options).catch(async (error: unknown) => {
      // A server that nobody closes would keep a failed test's process from ending.
      await server.close();
      throw error;
    });
    return {
      list: () => remote.list(),
      describe: (environment) => remote.describe(environment),
      open: (environment) => remote.open(environment),
      demonstrate: (environment, tasks) => remote.demonstrate(environment, tasks),
      close: async () => {
        await remote.close();
        await server.close();
      },
    };
  };
}
