import { createServer, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { randomStream } from "@mrlm/kit";
import { freePort } from "../../../benchmarks/ports/free-port.ts";

/** Fault of an endpoint during a run, and the code of the episodes that it fails; without one the retries of the client succeed. */
export interface EndpointFault {
  readonly code?: string;
  /** Answers one request with the fault. */
  readonly apply: (response: ServerResponse, server: FaultyEndpoint) => void;
}

const page = (status: number, body: string, headers: Record<string, string> = {}): EndpointFault["apply"] => {
  return (response) => void response.writeHead(status, headers).end(body);
};

/** Faults by name. */
export const ENDPOINT_FAULTS: Readonly<Record<string, EndpointFault>> = {
  killed: { code: "ENDPOINT_UNREACHABLE", apply: (_response, server) => server.kill() },
  "a closed connection": { code: "ENDPOINT_UNREACHABLE", apply: (response) => void response.destroy() },
  "no answer": { code: "ENDPOINT_TIMEOUT", apply: () => undefined },
  slow: { apply: (response) => void setTimeout(() => answer(response), 60) },
  "rate-limited": { code: "ENDPOINT_RATE_LIMITED", apply: page(429, "{}", { "retry-after": "0" }) },
  "rate-limited for a moment": { apply: page(429, "{}", { "retry-after": "0" }) },
  HTML: { code: "ENDPOINT_RESPONSE_INVALID", apply: page(200, "<html>busy</html>", { "content-type": "text/html" }) },
  "half a JSON": { code: "ENDPOINT_RESPONSE_INVALID", apply: page(200, '{"choices": [{"mess') },
  "a server error": { code: "ENDPOINT_FAILED", apply: page(503, "busy") },
  "an empty answer": { code: "ENDPOINT_OUTPUT_EMPTY", apply: (response) => answer(response, null) },
  "a filtered answer": {
    code: "ENDPOINT_OUTPUT_FILTERED",
    apply: (response) => answer(response, "b", "content_filter"),
  },
};

function answer(response: ServerResponse, content: string | null = "b", reason = "stop"): void {
  const choices = [{ index: 0, finish_reason: reason, message: { role: "assistant", content } }];
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ choices }));
}

/** Chat server on loopback that answers "b", and a share of the requests with a fault. */
export class FaultyEndpoint {
  readonly #fault: EndpointFault;
  readonly #faulty: () => boolean;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;
  /** Requests that had the fault. */
  faults = 0;

  /** @param share of the requests that have the fault, by the seed; above 0 the third one has it in any case */
  constructor(fault: EndpointFault, seed: number, share: number) {
    const stream = randomStream("faulty-endpoint", seed);
    this.#fault = fault;
    let requests = 0;
    this.#faulty = () => {
      requests++;
      return stream.integer(0, 999) < 1000 * share || (share > 0 && requests === 3);
    };
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/v1`;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      void text(request).then(() => {
        if (!this.#faulty()) return answer(response);
        this.faults++;
        this.#fault.apply(response, this);
      });
    });
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => this.#sockets.delete(socket));
    });
    this.#server = server;
    this.#port ||= await freePort();
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(this.#port, "127.0.0.1", resolve));
  }

  /** Ends like a killed process: all connections are reset, and new ones are refused until it starts again. */
  kill(): void {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    for (const socket of this.#sockets) socket.resetAndDestroy();
    server.close(() => void this.start());
  }

  async close(): Promise<void> {
    while (this.#server === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server?.close(resolve));
  }
}
