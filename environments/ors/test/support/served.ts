import { LocalHost, PluginHost } from "@mrlm/runtime";
import { serveDialects } from "@mrlm/dialects";
import type { JsonObject } from "@mrlm/kit";
import plugin from "../../src/index.ts";
import { sumsPlugin } from "./sums-plugin.ts";

type DialectServer = Awaited<ReturnType<typeof serveDialects>>;
type ServeDialectsOptions = Parameters<typeof serveDialects>[0];

/** Server of the environments of a test in the protocol. */
export interface Served {
  readonly server: DialectServer;
  readonly url: string;
  close(): Promise<void>;
}

/** Serves `sums@1` and `guess@1` on a free port, each below its name. */
export async function serve(options: Partial<ServeDialectsOptions> = {}): Promise<Served> {
  const host = new LocalHost({ source: await PluginHost.of([sumsPlugin]) });
  const server = await serveDialects({ host, address: "127.0.0.1:0", dialects: ["ors"], ...options });
  return {
    server,
    url: `http://127.0.0.1:${server.port}`,
    async close() {
      await server.close();
      await host.close();
    },
  };
}

/** Host of the bridge, as a run has it. */
export async function bridge(): Promise<{
  open(options: JsonObject): ReturnType<LocalHost["open"]>;
  describe(options: JsonObject): ReturnType<LocalHost["describe"]>;
  close(): Promise<void>;
}> {
  const host = new LocalHost({ source: await PluginHost.of([plugin]) });
  return {
    open: (options) => host.open({ id: "ors@2", options }),
    describe: (options) => host.describe({ id: "ors@2", options }),
    close: () => host.close(),
  };
}
