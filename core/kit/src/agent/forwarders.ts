/** Address in the network of a workspace that leads to the socket: above the ports that Linux gives to clients. */
export const FORWARDED = { host: "127.0.0.1", port: 61_000 } as const;

/** Connections at a time, because a process of a workspace may open 1,024 files. Further ones wait; node closes them. */
const CONNECTIONS = 400;
const SOCKET = "/mrlm/socket";

/** Copies bytes in both directions until the model has closed its side. A client that leaves ends its request. */
const PYTHON = `
import socket, threading, time
places = threading.Semaphore(${CONNECTIONS})
def shut(each, how):
    try:
        each.shutdown(how)
    except OSError:
        pass
def send(client, server):
    try:
        for data in iter(lambda: client.recv(65536), b""):
            try:
                server.sendall(data)
            except OSError:
                return # Its response may be on its way.
        shut(server, socket.SHUT_WR)
    except OSError:
        shut(server, socket.SHUT_RDWR)
def receive(server, client):
    try:
        for data in iter(lambda: server.recv(65536), b""):
            client.sendall(data)
    except OSError:
        pass
    shut(client, socket.SHUT_RDWR)
    shut(server, socket.SHUT_RDWR)
def serve(client):
    try:
        with client, socket.socket(socket.AF_UNIX) as server:
            server.connect("${SOCKET}")
            back = threading.Thread(target=receive, args=(server, client))
            back.start()
            send(client, server)
            back.join()
    except (OSError, RuntimeError):
        pass
    finally:
        places.release()
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("${FORWARDED.host}", ${FORWARDED.port}))
listener.listen(1024)
print("ready", flush=True)
while True:
    places.acquire()
    try:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    except (OSError, RuntimeError):
        places.release()
        time.sleep(0.01)
`;

const NODE = `
const { connect, createServer } = require("net");
const server = createServer({ allowHalfOpen: true }, (client) => {
  const socket = connect({ path: "${SOCKET}", allowHalfOpen: true });
  for (const each of [client, socket]) each.on("error", () => (client.destroy(), socket.destroy()));
  socket.on("close", () => client.destroySoon());
  client.pipe(socket).pipe(client);
});
server.maxConnections = ${CONNECTIONS};
server.listen(${FORWARDED.port}, "${FORWARDED.host}", 1024, () => console.log("ready"));
`;

/** Exit code of the command of a base that has no interpreter for it. */
export const MISSING = 127;

/** Command that connects the address with the socket, by the first interpreter that a base has. It prints `ready`, and runs until it is ended. */
export const FORWARD = [
  `if command -v python3 >/dev/null; then exec python3 -I -S -c '${PYTHON}'; fi`,
  `if command -v node >/dev/null; then exec node -e '${NODE}'; fi`,
  `exit ${MISSING}`,
].join("\n");
