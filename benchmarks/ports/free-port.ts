import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Returns a port of this machine that was free a moment ago. It lies below the ports that operating systems give to outgoing connections
 * (Linux: from 32768), so that none of them holds it while a server that listened there starts again.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer().listen(port, "127.0.0.1");
    try {
      await once(server, "listening");
    } catch {
      continue;
    }
    server.close();
    await once(server, "close");
    return port;
  }
}
