import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocket, WebSocketServer } from "ws";

/** Change of an answer of the server: another text, or its loss. */
export type Change = { readonly text: string } | { readonly delayMs: number } | "close" | "terminate" | "silence";

/** Server between a bridge and a real server, which changes answers. */
export class FaultyProxy {
  /** Returns the change of an answer over the WebSocket; `undefined`: none. @param nth number of the answer on its connection, from 0 */
  change: (text: string, nth: number) => Change | undefined = () => undefined;
  /** Returns another status of an HTTP response. */
  status: (path: string) => number | undefined = () => undefined;
  /** Connections that have been opened. */
  opened = 0;
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #open = new Set<WebSocket>();
  readonly #timers = new Set<NodeJS.Timeout>();

  private constructor(target: string) {
    this.#server = createServer((request, response) => {
      // The server has ended.
      this.#forward(target, request, response).catch(() => response.destroy());
    });
    this.#server.on("upgrade", (request, socket, head) =>
      this.#sockets.handleUpgrade(request, socket, head, (client) =>
        this.#connect(client, `${target}${request.url}`, request),
      ),
    );
  }

  static async start(target: string): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Breaks all connections. */
  breakAll(): void {
    for (const socket of this.#open) socket.terminate();
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.breakAll();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #forward(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const { method = "GET", url = "/" } = request;
    const answer = await fetch(`${target}${url}`, {
      method,
      headers: { "content-type": "application/json" },
      ...(method === "POST" && { body: Buffer.concat(chunks) }),
    });
    response.writeHead(this.status(url) ?? answer.status, { "content-type": "application/json" });
    response.end(await answer.text());
  }

  #connect(client: WebSocket, url: string, request: IncomingMessage): void {
    this.opened++;
    const { authorization } = request.headers;
    const server = new WebSocket(url.replace(/^http/, "ws"), {
      headers: authorization === undefined ? {} : { authorization },
    });
    let nth = 0;
    for (const socket of [client, server]) {
      this.#open.add(socket);
      socket.once("close", () => this.#open.delete(socket));
      socket.on("error", () => undefined);
    }
    const waiting: string[] = [];
    client.on("message", (data) => {
      const text = (data as Buffer).toString();
      if (server.readyState === WebSocket.OPEN) server.send(text);
      else waiting.push(text);
    });
    server.once("open", () => waiting.forEach((text) => server.send(text)));
    client.once("close", (code) => (code === 1006 ? server.terminate() : server.close(1000)));
    server.once("close", () => client.close(1000));
    server.on("message", (data) => {
      const text = (data as Buffer).toString();
      const change = this.change(text, nth++);
      if (change === undefined) client.send(text);
      else if (change === "terminate") client.terminate();
      else if (change === "close") client.close(1011, "fault");
      else if (change === "silence") return;
      else if ("text" in change) client.send(change.text);
      else {
        const timer = setTimeout(() => client.send(text), change.delayMs);
        this.#timers.add(timer);
      }
    });
  }
}
