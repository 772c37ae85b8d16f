import type { ServerResponse } from "node:http";

/** Bytes that a client may leave unread before it counts as disconnected. */
const MAX_UNREAD_BYTES = 8 << 20;

/** Server-sent events of a response. */
export class EventStream {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Whether the response has begun, so that a later error needs an event. */
  get hasBegun(): boolean {
    return this.#response.headersSent;
  }

  /** @param json event as JSON */
  write(json: string): void {
    const response = this.#response;
    if (response.destroyed) return;
    if (!response.headersSent)
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
    response.write(`data: ${json}\n\n`);
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
  }

  end(): void {
    if (!this.#response.destroyed) this.#response.end("data: [DONE]\n\n");
  }
}
