import type { EnvironmentHost } from "@mrlm/spec/host";
import { connectEnvironments } from "@mrlm/client";
import { serveEnvironments } from "@mrlm/server";

/** Connection to the environments of a host. Its `close` does not close the host. */
export type Transport = (host: EnvironmentHost) => Promise<EnvironmentHost>;

/** Transport that returns the host itself, in this process. */
export const inProcess: Transport = async (host) => ({
  list: () => host.list(),
  describe: (environment) => host.describe(environment),
  open: (environment, options) => host.open(environment, options),
  demonstrate: (environment, tasks) => host.demonstrate(environment, tasks),
  close: async () => undefined,
});

/** Returns a transport that serves the host on a free port of the loopback interface. */
export function overGrpc(options: { readonly transport?: "stream" | "unary" } = {}): Transport {
  return async (host) => {
    const server = await serveEnvironments({ host, address: "127.0.0.1:0", demonstrations: true });
    const remote = await connectEnvironments(`127.0.0.1:${server.port}`, options).catch(async (error: unknown) => {
      // A server that is not closed would keep the process of a failed test alive.
      await server.close();
      throw error;
    });
    return {
      list: () => remote.list(),
      describe: (environment) => remote.describe(environment),
      open: (environment, options) => remote.open(environment, options),
      demonstrate: (environment, tasks) => remote.demonstrate(environment, tasks),
      close: async () => {
        await remote.close();
        await server.close();
      },
    };
  };
}
