import {
  type FetchLike,
  type JSONRPCMessage,
  type RequestId,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/client";
import { tooLargeAnswer } from "./discarded-answers.ts";
import { within } from "@mrlm/process";

/** Time for a server to end its session. */
const TERMINATE_MS = 1000;

/** Address of a server, with its variables replaced. */
export interface ServerAddress {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Limit of one message in bytes. */
  readonly messageBytes: number;
}

/** Code of the error that stands in for an answer whose stream ended without it. */
export const STREAM_ENDED = -32_098;

/**
 * Streamable HTTP. Unlike the transport of the official client, which it uses, a broken stream is an error of its request at once, and messages have a
 * limit. Redirects stay within the origin, which alone gets the headers.
 */
export class HttpTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Lets the client cancel a request by its stream, where the protocol's version has that. */
  readonly hasPerRequestStream = true;
  readonly #inner: StreamableHTTPClientTransport;
  readonly #limit: number;
  /** Requests without an answer so far. Each is aborted when the client cancels it: a server need not end the stream. */
  readonly #waiting = new Map<RequestId, AbortController>();
  /** Requests whose answer is above the limit. */
  readonly #tooLarge = new Set<RequestId>();

  constructor({ url, headers, messageBytes }: ServerAddress) {
    this.#limit = messageBytes;
    this.#inner = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      fetch: limitedFetch(messageBytes, (id) => this.#tooLarge.add(id)),
    });
  }

  async start(): Promise<void> {
    const onMessage = (message: JSONRPCMessage): void => {
      if (!("method" in message) && message.id !== undefined) this.#waiting.delete(message.id);
      this.onmessage?.(message);
    };
    Object.assign(this.#inner, {
      onclose: () => this.onclose?.(),
      onerror: (error: Error) => this.onerror?.(error),
      onmessage: onMessage,
    });
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!("method" in message && "id" in message)) {
      await this.#inner.send(message, options);
      const cancelled = "method" in message && message.method === "notifications/cancelled";
      return cancelled ? this.#abort(message.params?.["requestId"] as RequestId) : undefined;
    }
    const { id } = message;
    const request = new AbortController();
    this.#waiting.set(id, request);
    options?.requestSignal?.addEventListener("abort", () => this.#waiting.delete(id), { once: true });
    const { requestSignal = request.signal, onRequestStreamEnd = () => this.#withoutAnswer(id) } = options ?? {};
    try {
      await this.#inner.send(message, { ...options, requestSignal, onRequestStreamEnd });
    } catch (error) {
      if (!this.#tooLarge.has(id)) {
        this.#waiting.delete(id);
        throw error;
      }
      this.#withoutAnswer(id);
    }
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion(version);
  }

  /** Ends the session of the server, then the connection. */
  async close(): Promise<void> {
    await within(
      TERMINATE_MS,
      this.#inner.terminateSession().catch(() => undefined),
    );
    await this.#inner.close();
  }

  #abort(id: RequestId): void {
    this.#waiting.get(id)?.abort();
    this.#waiting.delete(id);
  }

  #withoutAnswer(id: RequestId): void {
    const isTooLarge = this.#tooLarge.delete(id);
    if (!this.#waiting.delete(id)) return;
    const error = { code: STREAM_ENDED, message: "The stream of the answer ended without it." };
    this.onmessage?.(isTooLarge ? tooLargeAnswer(id, this.#limit) : { jsonrpc: "2.0", id, error });
  }
}

/**
 * HTTP with server-sent events, as before the protocol's version 2025-03-26. All answers come over one stream. When it breaks, the connection ends: the
 * client would open another one, whose session knows no request of this one.
 */
export function legacyTransport({ url, headers, messageBytes }: ServerAddress): SSEClientTransport {
  const transport = new SSEClientTransport(new URL(url), {
    requestInit: { headers },
    fetch: limitedFetch(messageBytes, () => undefined),
  });
  return Object.assign(transport, { onerror: () => void transport.close() });
}

/** Returns a `fetch` whose answers end with an error above the limit: of the whole, or of one event of a stream. */
function limitedFetch(limit: number, tooLarge: (id: number) => void): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    let size = 0;
    let last = 0;
    const limited = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        const end = isStream ? lastEventEnd(chunk, last) : -1;
        size = end < 0 ? size + chunk.length : chunk.length - end;
        last = chunk.at(-1) ?? last;
        if (size <= limit) return controller.enqueue(chunk);
        const id = typeof init?.body === "string" ? /"id":(\d+)\}$/.exec(init.body.slice(-40))?.[1] : undefined;
        if (id !== undefined) tooLarge(Number(id));
        controller.error(new Error(`The server sent more than ${limit} bytes at once.`));
      },
    });
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(limited), { status, statusText, headers });
  };
}

/** Returns where the last event of a chunk ends (a blank line); -1 if none does. */
function lastEventEnd(chunk: Uint8Array, before: number): number {
  for (let i = chunk.length - 1; i >= 0; i--) {
    if (chunk[i] !== 10) continue;
    const previous = i > 0 ? chunk[i - 1] : before;
    if (previous === 10) return i + 1;
    // The end of a line `\r\n` that is preceded by another.
    if (previous === 13 && (i > 1 ? chunk[i - 2] : 10) === 10) return i + 1;
  }
  return -1;
}
