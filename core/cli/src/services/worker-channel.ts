import type { ChildProcess } from "node:child_process";
import { type Channel, processChannel } from "@mrlm/process";

/** Message between the server process and a worker. */
interface TopicMessage {
  readonly topic: string;
  readonly body: unknown;
}

/** Channels of two processes by topic, over one connection. */
export interface WorkerChannels {
  /** Messages that arrive for a topic before its first listener wait for it. */
  channel(topic: string): Channel;
}

/** Returns the channels to a started worker. */
export function channelsTo(child: ChildProcess): WorkerChannels {
  // Code of a plugin has found a way to send messages of its own.
  return new Channels(processChannel(child), () => void child.kill("SIGKILL"));
}

/**
 * Returns the channels to the process that started this one, and takes the connection away from code of plugins. This process ends when the other is gone.
 */
export function channelsToParent(): WorkerChannels {
  if (process.send === undefined) throw new Error("This module runs as a worker of `mrlm` only.");
  const { exit } = process;
  const connection = processChannel(process);
  Object.defineProperty(process, "send", { value: undefined });
  connection.closed.addEventListener("abort", () => exit.call(process, 1));
  return new Channels(connection);
}

class Channels implements WorkerChannels {
  readonly #connection: Channel;
  readonly #listeners = new Map<string, Set<(body: unknown) => void>>();
  readonly #early = new Map<string, unknown[]>();

  /** @param onInvalid called for a message that is none */
  constructor(connection: Channel, onInvalid?: () => void) {
    this.#connection = connection;
    connection.onMessage((message) => {
      try {
        this.#receive(message as TopicMessage);
      } catch (error) {
        if (onInvalid === undefined) throw error;
        onInvalid();
      }
    });
  }

  channel(topic: string): Channel {
    return {
      closed: this.#connection.closed,
      send: (body) => this.#connection.send({ topic, body } satisfies TopicMessage),
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

  #receive({ topic, body }: TopicMessage): void {
    const listeners = this.#listeners.get(topic);
    if (listeners !== undefined) for (const listener of listeners) listener(body);
    else this.#early.set(topic, [...(this.#early.get(topic) ?? []), body]);
  }
}
