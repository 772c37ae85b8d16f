import type { Server } from "node:http";
import type { Socket } from "node:net";

/** Share of the connections that one address may have before their first accepted requests. */
const SHARE = 8;

/** Functions that end the limit of a connection. */
const accepting = new WeakMap<object, () => void>();

/**
 * Limits the connections of a server. One without an accepted request is closed, the oldest one first, when its address has more than an eighth of `total`
 * such connections, or when the server has more than `total` connections. So the newest client is served while another connection has no accepted request; else it is
 * closed itself. Addresses of one IPv6 network (/64) count as one.
 */
export function limitConnections(server: Server, total: number): void {
  const waiting = new Map<string, Set<Socket>>();
  const leaving = new Map<string, () => void>();
  let open = 0;
  server.on("connection", (socket: Socket) => {
    const [address, name] = [networkOf(socket.remoteAddress), nameOf(socket)];
    const own = waiting.get(address) ?? new Set();
    waiting.set(address, own.add(socket));
    open++;
    const leave = (): void => {
      own.delete(socket);
      leaving.delete(name);
      if (own.size === 0 && waiting.get(address) === own) waiting.delete(address);
    };
    leaving.set(name, leave);
    accepting.set(socket, leave);
    socket.once("close", () => {
      open--;
      leave();
    });
    if (own.size > Math.ceil(total / SHARE)) endOldest(own);
    else if (open > total)
      endOldest([...waiting.values()].reduce((most, each) => (each.size > most.size ? each : most)));
  });
  // A request of TLS has another socket than its connection.
  server.on("secureConnection", (socket: Socket) => {
    const leave = leaving.get(nameOf(socket));
    if (leave !== undefined) accepting.set(socket, leave);
  });
}

/** Ends the limit of the connection of a request that was accepted. */
export function acceptConnection(socket: object): void {
  accepting.get(socket)?.();
}

function endOldest(sockets: ReadonlySet<Socket>): void {
  const [oldest] = sockets;
  oldest?.destroy();
}

function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function networkOf(address = ""): string {
  if (!address.includes(":") || address.includes(".")) return address.replace(/^::ffff:/, "");
  return (address.split("::")[0] as string).split(":").slice(0, 4).join(":");
}
