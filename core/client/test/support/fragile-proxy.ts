import { type Socket, connect, createServer } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

/** Proxy between client and server whose connections can be cut. */
export interface FragileProxy {
  readonly port: number;
  /** Cuts every connection; new ones work as before. */
  cut(): void;
  /** Cuts every connection; new ones are accepted and never answered, as by a blocked server. */
  silence(): void;
  /**
   * Cuts after so many milliseconds, then again each time after 1.4 times as long, so that calls succeed in the end on a busy machine too.
   * @returns stops the cuts
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
