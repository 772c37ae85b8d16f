import { type Socket, connect, createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** A network between client and server that can be cut. */
export interface FragileProxy {
  readonly port: number;
  /** Breaks every connection; new ones are made as before. */
  cut(): void;
  /**
   * Cuts after so many milliseconds, and then again, each time after 1.4 times as long: on a busy machine too something comes through in the end.
   * @returns makes it stop
   */
  keepCutting(milliseconds: number): () => void;
  close(): void;
}

export async function fragileProxy(target: number): Promise<FragileProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    keepCutting(milliseconds) {
      let timer: NodeJS.Timeout;
      const cutAfter = (wait: number): void => {
        timer = setTimeout(() => {
          cut();
          cutAfter(1.4 * wait);
        }, wait);
      };
      cutAfter(milliseconds);
      return () => clearTimeout(timer);
    },
    close: () => {
      server.close();
      cut();
    },
  };
}
