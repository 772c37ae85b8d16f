import { randomInt } from "node:crypto";
import { isTooDeep, TOO_DEEP } from "@mrlm/kit/service";
import type {
  JSONRPCMessage,
  MessageExtraInfo,
  RequestId,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/client";
import type { ServerTransport } from "./connection.ts";
import { tooDeepAnswer } from "./discarded-answers.ts";

/** Ids of requests are below: some servers read them as integers of 32 bits with a sign. */
const MAX_ID = 2 ** 31;

/**
 * Protects the client from the messages of a server, over any transport:
 *
 * - A message that is nested too deeply is discarded, because the client writes messages by recursion.
 * - A message that the client cannot handle ends the connection. It would else end this process, from a listener of a pipe or socket.
 * - Requests have ids that a server cannot guess: the client's own are numbered, so that a server could answer a later call in advance.
 */
export class GuardedTransport implements ServerTransport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage, extra?: MessageExtraInfo) => void;
  readonly hasPerRequestStream: boolean;
  readonly #inner: ServerTransport;
  /** Requests without an answer so far: ids of the client by those that were sent, and the reverse. */
  readonly #waiting = new Map<number, RequestId>();
  readonly #sent = new Map<RequestId, number>();
  #fault: string | undefined;

  constructor(inner: ServerTransport) {
    this.#inner = inner;
    this.hasPerRequestStream = inner.hasPerRequestStream ?? false;
    const { onerror: before } = inner;
    const handlers: Pick<Transport, "onclose" | "onerror" | "onmessage"> = {
      onclose: () => this.onclose?.(),
      onerror: (error) => {
        before?.(error);
        this.onerror?.(error);
      },
      onmessage: (message, extra) => this.#receive(message, extra),
    };
    Object.assign(inner, handlers);
  }

  get ending(): string | undefined {
    return this.#fault ?? this.#inner.ending;
  }

  async start(): Promise<void> {
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const sent = this.#withSentId(message);
    // The protocol's version 2026-07-28 cancels a request by its stream.
    if ("method" in sent && "id" in sent)
      options?.requestSignal?.addEventListener("abort", () => void this.#taken(sent.id), { once: true });
    try {
      await this.#inner.send(sent, options);
    } catch (error) {
      if ("method" in sent && "id" in sent) this.#taken(sent.id);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  /** Returns a message with the ids that the server reads. Ids that are texts are few, and stay. */
  #withSentId(message: JSONRPCMessage): JSONRPCMessage {
    if (!("method" in message)) return message;
    if ("id" in message) {
      if (typeof message.id !== "number") return message;
      let id = randomInt(MAX_ID);
      while (this.#waiting.has(id)) id = randomInt(MAX_ID);
      this.#waiting.set(id, message.id);
      this.#sent.set(message.id, id);
      return { ...message, id };
    }
    const { params } = message;
    const id = message.method === "notifications/cancelled" ? params?.["requestId"] : undefined;
    const requestId = this.#sent.get(id as RequestId);
    if (requestId === undefined) return message;
    this.#taken(requestId);
    return { ...message, params: { ...params, requestId } };
  }

  /** Returns the client's id of a request, which waits no more; `undefined` if none waits under this id. */
  #taken(id: RequestId): RequestId | undefined {
    const own = this.#waiting.get(Number(id));
    this.#waiting.delete(Number(id));
    if (own !== undefined) this.#sent.delete(own);
    return own;
  }

  #receive(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    try {
      const known = this.#withOwnId(message);
      if (known === undefined)
        return this.onerror?.(new Error("The server answered an unknown message ID, or answered twice."));
      if (!isTooDeep(known)) return this.onmessage?.(known, extra);
      if (!("method" in known) && known.id !== undefined) return this.onmessage?.(tooDeepAnswer(known.id), extra);
      this.onerror?.(new Error(`The server sent a message that was discarded: ${TOO_DEEP}.`));
    } catch (error) {
      this.#fault = `it sent a message that cannot be handled (${String(error).slice(0, 200)})`;
      this.close().catch((fault: Error) => this.onerror?.(fault));
    }
  }

  /** Returns an answer with the id of the client's request, and other messages as they are; `undefined` for an answer to no waiting request. */
  #withOwnId(message: JSONRPCMessage): JSONRPCMessage | undefined {
    if ("method" in message || (message.id ?? undefined) === undefined) return message;
    if (typeof message.id === "string" && Number.isNaN(Number(message.id))) return message;
    const id = this.#taken(message.id as RequestId);
    return id === undefined ? undefined : { ...message, id };
  }
}
