import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Id = number | string;

/** Ways in which the server answers a call, by the tool's name. */
const answers: Readonly<Record<string, (response: ServerResponse, id: Id) => void>> = {
  json: (response, id) => send(response, "application/json", resultOf(id, "fine")),
  stream: (response, id) => send(response, "text/event-stream", eventOf(resultOf(id, "fine"))),
  twice: (response, id) => send(response, "text/event-stream", eventOf(resultOf(id, "1")) + eventOf(resultOf(id, "2"))),
  never: () => undefined,
  large_json: (response, id) => send(response, "application/json", resultOf(id, "x".repeat(2 ** 20))),
  large_stream: (response, id) => send(response, "text/event-stream", eventOf(resultOf(id, "x".repeat(2 ** 20)))),
  endless_event: (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const more = (): void => {
      if (!response.destroyed) response.write(`data: ${"x".repeat(60_000)}\n`, () => setImmediate(more));
    };
    more();
  },
  deep_json: (response, id) => send(response, "application/json", deepResultOf(id)),
  deep_stream: (response, id) => send(response, "text/event-stream", eventOf(deepResultOf(id))),
  ends: (response) => send(response, "text/event-stream", ": nothing\n\n"),
  breaks: (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: {");
    setTimeout(() => response.destroy(), 10);
  },
  drops: (response) => void response.destroy(),
  fails: (response) => void response.writeHead(500).end("internal: the-secret-value"),
  gone: (response) => void response.writeHead(404).end("no such session"),
  html: (response) => send(response, "text/html", "<p>a page</p>"),
  garbage: (response) => send(response, "application/json", "{]"),
};

function resultOf(id: Id, text: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } });
}

function deepResultOf(id: Id): string {
  const deep = "[".repeat(20_000) + "]".repeat(20_000);
  return `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"x"}],"_meta":{"x":${deep}}}}`;
}

const eventOf = (message: string): string => `event: message\ndata: ${message}\n\n`;

function send(response: ServerResponse, type: string, body: string): void {
  response.writeHead(200, { "content-type": type }).end(body);
}

/** MCP server over HTTP with faults. */
export class HttpServer {
  /** Requests by method, or for calls by the tool's name. */
  readonly counts: Record<string, number> = {};
  /** Header `x-key` of the last request. */
  lastKey: string | undefined;
  /** Whether it knows only the legacy transport: a stream at GET, whose first event names the address of requests. */
  isLegacy = false;
  #stream: ServerResponse | undefined;
  /** Address that all requests are redirected to. */
  redirect: string | undefined;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  async listen(): Promise<string> {
    this.#server.listen(0, "127.0.0.1");
    await new Promise((resolve) => this.#server.once("listening", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.lastKey = request.headers["x-key"] as string | undefined;
    if (this.redirect !== undefined) return void response.writeHead(307, { location: this.redirect }).end();
    if (this.isLegacy && request.method === "GET") {
      this.#stream = response.writeHead(200, { "content-type": "text/event-stream" });
      return void response.write("event: endpoint\ndata: /requests\n\n");
    }
    if (this.isLegacy && request.url !== "/requests") return void response.writeHead(405).end();
    if (request.method !== "POST") {
      this.#count(request.method ?? "");
      return void response.writeHead(request.method === "DELETE" ? 200 : 405).end();
    }
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { id, method, params } = JSON.parse(body) as {
      readonly id?: Id;
      readonly method: string;
      readonly params: { readonly name: string; readonly protocolVersion: string };
    };
    this.#count(method === "tools/call" ? params.name : method);
    if (params?.name === "never") response.once("close", () => this.#count("aborted"));
    if (id === undefined) return void response.writeHead(202).end();
    const answer = (result: object): void => {
      if (this.isLegacy) {
        response.writeHead(202).end();
        return void this.#stream?.write(eventOf(JSON.stringify({ jsonrpc: "2.0", id, result })));
      }
      const headers = { "content-type": "application/json", "mcp-session-id": "session" };
      response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    };
    if (method === "initialize") {
      const { protocolVersion } = params;
      return answer({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "http", version: "1" } });
    }
    if (method === "tools/list") {
      const tools = Object.keys(answers).map((name) => ({ name, inputSchema: { type: "object" } }));
      return answer({ tools });
    }
    if (this.isLegacy && method === "tools/call") {
      if (params.name === "deep_json") {
        response.writeHead(202).end();
        return void this.#stream?.write(eventOf(deepResultOf(id)));
      }
      if (params.name === "json") return answer({ content: [{ type: "text", text: "fine" }] });
      if (params.name === "large_json") return answer({ content: [{ type: "text", text: "x".repeat(2 ** 20) }] });
      response.writeHead(202).end();
      return void this.#stream?.destroy();
    }
    if (method === "tools/call") return answers[params.name]?.(response, id);
    return answer({});
  }

  #count(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }
}
