import { type AddressInfo, type Socket, connect, createServer } from "node:net";
import { once } from "node:events";

/** Proxy between client and server whose connections can be cut. */
export interface FragileProxy {
  readonly port: number;
  /** Cuts every connection; new ones work as before. */
  cut(): void;
  /** Cuts every connection; new ones are accepted and never answered, as by a blocked server. */
  silence(): void;
  /** Forwards nothing more on the present connections, and ends neither side, as a firewall that forgets them. New ones work. */
  freeze(): void;
  /**
   * Cuts after so many milliseconds, then again each time after 1.4 times as long, so that calls succeed in the end on a busy machine too.
   * @returns stops the cuts
   */
  keepCutting(milliseconds: number): () => void;
  close(): void;
}

/** Resets of new connections after a number of bytes. */
export interface Drops {
  /** Returns the bytes that the next connection forwards, and from which side. */
  next(): { readonly side: "client" | "server"; readonly bytes: number };
  onDrop(): void;
}

export async function fragileProxy(target: number, drops?: Drops): Promise<FragileProxy> {
  const sockets = new Set<Socket>();
  const frozen = new Set<Socket>();
  let isSilent = false;
  const server = createServer((near) => {
    if (isSilent) {
      sockets.add(near);
      return void near.on("error", () => undefined).on("close", () => sockets.delete(near));
    }
    const far = connect(target, "127.0.0.1");
    near.setNoDelay(true);
    far.setNoDelay(true);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        if (!frozen.has(other)) other.destroy();
      });
    }
    if (drops === undefined) return void near.pipe(far).pipe(near);
    const drop = drops.next();
    const forward = (from: Socket, to: Socket, limit: number): void => {
      let left = limit;
      from.on("data", (bytes: Buffer) => {
        if (to.destroyed) return;
        const isLast = bytes.length >= left;
        to.write(isLast ? bytes.subarray(0, left) : bytes);
        left -= bytes.length;
        if (!isLast) return;
        drops.onDrop();
        // The bytes before the offset arrive; the other side is reset at once.
        from.resetAndDestroy();
        to.destroySoon();
      });
    };
    forward(near, far, drop.side === "client" ? drop.bytes : Infinity);
    forward(far, near, drop.side === "server" ? drop.bytes : Infinity);
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
    freeze() {
      for (const socket of sockets) {
        frozen.add(socket);
        socket.unpipe();
        // Bytes are read, so that the kernel acknowledges them, and dropped.
        socket
          .removeAllListeners("data")
          .removeAllListeners("end")
          .on("end", () => undefined)
          .resume();
      }
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
