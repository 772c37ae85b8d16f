import { type Socket, connect, createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** A network between client and server that can be cut. */
export interface FragileProxy {
  readonly port: number;
  /** Breaks every connection; new ones are made as before. */
  cut(): void;
  /** Breaks every connection; new ones are taken and lead nowhere, as at a server that hears nothing. */
  silence(): void;
  /**
   * Cuts after so many milliseconds, and then again, each time after 1.4 times as long: on a busy machine too something comes through in the end.
   * @returns makes it stop
   */
  keepCutting(milliseconds: number): () => void;
  close(): void;
}

export async function fragileProxy(target: number): Promise<FragileProxy> {
  const sockets = new Set<Socket>();
  let isSilent = false;
  const server = createServer((near) => {
    if (isSilent) {
      sockets.add(near);
      return void near.on("error", () => undefined).on("close", () => sockets.delete(near));
    }
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
    silence() {
      isSilent = true;
      cut();
    },
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
