import { connectStore } from "@mrlm/client";
import { serveStore } from "@mrlm/server";
import type { EpisodeStore } from "@mrlm/spec/host";

type ConnectStoreOptions = Parameters<typeof connectStore>[1];
type ServedStore = Awaited<ReturnType<typeof connectStore>>;

type ServeStoreOptions = Parameters<typeof serveStore>[0];
type StoreServer = Awaited<ReturnType<typeof serveStore>>;

/** A store behind a server of this process. */
export interface Served {
  readonly server: StoreServer;
  readonly address: string;
  connect(options?: ConnectStoreOptions): Promise<ServedStore>;
}

/** Serves an open store. */
export async function served(
  store: EpisodeStore,
  options: Partial<Omit<ServeStoreOptions, "source">> = {},
): Promise<Served> {
  const server = await serveStore({
    address: "127.0.0.1:0",
    ...options,
    source: {
      store: async () => store,
      describe: () => ({ path: "runs/x", config: "name: x\n", hasEnded: false, isLocked: false }),
    },
  });
  const address = `127.0.0.1:${server.port}`;
  return { server, address, connect: (given) => connectStore(address, given) };
}
