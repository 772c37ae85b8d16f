import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Change of an answer of the server: another text or status, a part of it, or its loss. */
export type Change =
  | { readonly text: string; readonly status?: number; readonly headers?: Readonly<Record<string, string>> }
  | { readonly cutTo: number }
  | "terminate"
  | "silence";

/** Request to the proxy. */
export interface Passed {
  readonly path: string;
  /** JSON of its body; `undefined` without one. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** Server between a bridge and a real server, which changes answers. */
export class FaultyProxy {
  /** Returns the change of an answer; `undefined`: none. The server has answered: what it did is done. */
  change: (passed: Passed, text: string) => Change | undefined = () => undefined;
  /** Returns a path to which a request is redirected instead; `undefined`: none. */
  redirect: (path: string) => string | undefined = () => undefined;
  /** Requests so far. */
  readonly passed: Passed[] = [];
  readonly #server: Server;

  private constructor(target: string) {
    this.#server = createServer((request, response) => {
      // The server has ended.
      this.#forward(target, request, response).catch(() => response.destroy());
    });
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

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #forward(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk as Uint8Array);
    const sent = Buffer.concat(chunks).toString();
    const { method = "GET", url: path = "/", headers } = request;
    const passed = { path, body: sent === "" ? undefined : (JSON.parse(sent) as Record<string, unknown>) };
    this.passed.push(passed);
    const location = this.redirect(path);
    if (location !== undefined) return void response.writeHead(308, { location }).end();
    const session = headers["x-session-id"];
    const answer = await fetch(`${target}${path}`, {
      method,
      headers: { "content-type": "application/json", ...(typeof session === "string" && { "x-session-id": session }) },
      ...(method === "POST" && { body: sent }),
    });
    const text = await answer.text();
    const change = this.change(passed, text);
    if (change === "silence") return;
    if (change === "terminate") return void response.destroy();
    const type = { "content-type": answer.headers.get("content-type") ?? "application/json" };
    if (change !== undefined && "cutTo" in change) {
      response.writeHead(answer.status, type);
      response.write(text.slice(0, change.cutTo), () => response.destroy());
      return;
    }
    response.writeHead(change?.status ?? answer.status, { ...type, ...change?.headers });
    response.end(change?.text ?? text);
  }
}
