/** POST requests over connections that stay open. */
import { Agent, request } from "node:http";

/** Client of one server. */
export class HttpClient {
  readonly #agent: Agent;
  readonly #port: number;

  /** @param connections at the same time */
  constructor(port: number, connections: number) {
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Sends JSON, and returns the text of the response. Rejects for another status than 200. */
  post(path: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<string> {
    const text = JSON.stringify(body);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const own = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    const options = { agent: this.#agent, port: this.#port, path, method: "POST", headers: { ...own, ...headers } };
    const sent = request(options, (response) => {
      let received = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => (received += chunk));
      response.on("end", () =>
        response.statusCode === 200 ? resolve(received) : reject(new Error(`${path} answered ${received}`)),
      );
    });
    sent.once("error", reject);
    sent.end(text);
    return promise;
  }

  close(): void {
    this.#agent.destroy();
  }
}
