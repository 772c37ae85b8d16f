import type { IncomingMessage, ServerResponse } from "node:http";
import { MrlmError } from "@mrlm/spec";
import { HttpError } from "./http-error.ts";
import { parseClientJson } from "./parse-client-json.ts";
import { readBody } from "./read-body.ts";

/** One HTTP request with its response. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  /** Name of the token that the request carries, once its access was checked. */
  client: string | undefined;
  readonly #maxBytes: number;

  /** @param maxBytes limit of the body */
  constructor(request: IncomingMessage, response: ServerResponse, url: URL, maxBytes: number) {
    this.request = request;
    this.response = response;
    this.url = url;
    this.#maxBytes = maxBytes;
  }

  /** Returns a header of the request. */
  header(name: string): string | undefined {
    const value = this.request.headers[name];
    return Array.isArray(value) ? value.join(", ") : value;
  }

  /** Reads the body as JSON. Rejects with status 413 above the limit, and with status 400 for another form. */
  async json(): Promise<unknown> {
    const body = await readBody(this.request, this.#maxBytes);
    if (body === undefined)
      throw new HttpError(
        413,
        new MrlmError("MESSAGE_INVALID", `The body of the request has more than ${this.#maxBytes} bytes.`, {
          hint: "Send less in one request.",
        }),
      );
    try {
      return parseClientJson(new TextDecoder("utf-8", { fatal: true }).decode(body));
    } catch (error) {
      throw new HttpError(
        400,
        new MrlmError("MESSAGE_INVALID", `The body of the request is not JSON: ${(error as Error).message}.`, {
          hint: "Send one JSON value in UTF-8.",
        }),
      );
    }
  }

  /** Sends a JSON response. */
  send(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
    if (this.response.headersSent || this.response.destroyed) return;
    // A body that was not read would be taken for the next request of the connection.
    const rest = this.request.complete ? {} : { connection: "close" };
    this.response.writeHead(status, { "content-type": "application/json", ...rest, ...headers });
    this.response.end(JSON.stringify(body));
    this.request.resume();
  }
}
