import type { ServerResponse } from "node:http";
import type { Codec } from "@mrlm/kit/gateway";

/** Bytes that a client may leave unread before it counts as disconnected. */
const MAX_UNREAD_BYTES = 8 << 20;

/** Server-sent events of a response. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #codec: Pick<Codec, "event" | "streamEnd">;

  /** @param codec form of the events */
  constructor(response: ServerResponse, codec: Pick<Codec, "event" | "streamEnd">) {
    this.#response = response;
    this.#codec = codec;
  }

  write(event: object): void {
    const response = this.#response;
    if (response.destroyed) return;
    if (!response.headersSent)
      response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
    response.write(this.#codec.event(event));
    if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
  }

  end(): void {
    if (!this.#response.destroyed) this.#response.end(this.#codec.streamEnd);
  }
}
