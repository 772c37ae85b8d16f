import type { Engine } from "@mrlm/spec/host";
import { connectEngine } from "@mrlm/client";
import { type ServedEngine, serveEngine } from "@mrlm/server";

/** Serves an engine of this process on a free port of the loopback interface and returns a client of it. */
export async function engineOverGrpc(engine: ServedEngine): Promise<Engine> {
  const server = await serveEngine({ engine, address: "127.0.0.1:0" });
  const remote = await connectEngine(`127.0.0.1:${server.port}`);
  const close = remote.close.bind(remote);
  remote.close = async () => {
    await close();
    await server.close();
  };
  return remote;
}
