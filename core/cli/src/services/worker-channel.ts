import type { ChildProcess } from "node:child_process";
import type { WorkerChannel } from "@mrlm/server";

/** Message between the server process and a worker. */
interface TopicMessage {
  readonly topic: string;
  readonly body: unknown;
}

/** Channels of two processes by topic, over one connection. */
export interface WorkerChannels {
  /** Messages that arrive for a topic before its first listener wait for it. */
  channel(topic: string): WorkerChannel;
}

/** Returns the channels to a started worker. */
export function channelsTo(child: ChildProcess): WorkerChannels {
  const closed = new AbortController();
  child.once("disconnect", () => closed.abort());
  child.once("exit", () => closed.abort());
  const channels = new Channels((message) => {
    if (child.connected) child.send(message, () => undefined);
  }, closed.signal);
  child.on("message", (message) => {
    try {
      channels.receive(message as TopicMessage);
    } catch {
      // Code of a plugin has found a way to send messages of its own.
      child.kill("SIGKILL");
    }
  });
  return channels;
}

/**
 * Returns the channels to the process that started this one, and takes the connection away from code of plugins. This process ends when the other is gone.
 */
export function channelsToParent(): WorkerChannels {
  const post = process.send?.bind(process);
  if (post === undefined) throw new Error("This module runs as a worker of `mrlm` only.");
  const { exit } = process;
  const closed = new AbortController();
  process.on("disconnect", () => {
    closed.abort();
    exit.call(process, 1);
  });
  Object.defineProperty(process, "send", { value: undefined });
  const channels = new Channels((message) => void post(message, () => undefined), closed.signal);
  process.on("message", (message) => channels.receive(message as TopicMessage));
  return channels;
}

class Channels implements WorkerChannels {
  readonly #send: (message: TopicMessage) => void;
  readonly #closed: AbortSignal;
  readonly #listeners = new Map<string, Set<(body: unknown) => void>>();
  readonly #early = new Map<string, unknown[]>();

  constructor(send: (message: TopicMessage) => void, closed: AbortSignal) {
    this.#send = send;
    this.#closed = closed;
  }

  channel(topic: string): WorkerChannel {
    return {
      closed: this.#closed,
      send: (body) => this.#send({ topic, body }),
      onMessage: (listener) => {
        const listeners = this.#listeners.get(topic) ?? new Set();
        this.#listeners.set(topic, listeners.add(listener));
        const early = this.#early.get(topic) ?? [];
        this.#early.delete(topic);
        for (const body of early) listener(body);
        return () => void listeners.delete(listener);
      },
    };
  }

  receive({ topic, body }: TopicMessage): void {
    const listeners = this.#listeners.get(topic);
    if (listeners !== undefined) for (const listener of listeners) listener(body);
    else this.#early.set(topic, [...(this.#early.get(topic) ?? []), body]);
  }
}
