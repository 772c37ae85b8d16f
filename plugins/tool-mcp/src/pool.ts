import type { JsonObject, ToolCallOptions } from "@mrlm/kit";
import type { Answer, Connection, ListedTool } from "./connection.ts";

/** Opens a connection, and another one when that is lost. */
class Link {
  readonly #open: () => Promise<Connection>;
  #connection: Connection | undefined;
  #opening: Promise<Connection> | undefined;
  /** Replaced connections with calls that may still be answered. They close after the last one. */
  #retired: Connection[] = [];
  /** Connections that were lost. */
  lost = 0;

  constructor(open: () => Promise<Connection>, first?: Connection) {
    this.#open = open;
    this.#connection = first;
  }

  /** The present connection, also a lost one. */
  get connection(): Connection | undefined {
    return this.#connection;
  }

  get isOpen(): boolean {
    return this.#connection?.isUsable === true;
  }

  get(): Promise<Connection> {
    this.#opening ??= this.#replace().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    const present = this.#connection === undefined ? [] : [this.#connection];
    await Promise.all([...this.#retired, ...present].map((each) => each.close()));
  }

  async #replace(): Promise<Connection> {
    const before = this.#connection;
    if (before?.isUsable === true) return before;
    // The processes of a lost connection end before the next ones start.
    if (before?.calls === 0) await before.close();
    const next = await this.#open();
    if (before !== undefined) {
      this.lost++;
      this.#retired = [...this.#retired, before].filter(({ calls }) => calls > 0);
    }
    this.#connection = next;
    return next;
  }
}

/** Connections with one server: one for an episode, or some that all episodes share. */
export class Pool {
  readonly #links: readonly Link[];
  #next = 0;

  constructor(size: number, open: () => Promise<Connection>, first?: Connection) {
    this.#links = Array.from({ length: size }, (_, i) => new Link(open, i === 0 ? first : undefined));
  }

  /** Connects all. */
  async open(): Promise<void> {
    const opened = await Promise.allSettled(this.#links.map((link) => link.get()));
    const failed = opened.find((each) => each.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  /** Tools at this moment, or those of the last connection if it is lost. */
  get tools(): readonly ListedTool[] {
    return this.#links[0]?.connection?.tools ?? [];
  }

  /** Connections that were lost and replaced. */
  get lost(): number {
    return this.#links.reduce((sum, { lost }) => sum + lost, 0);
  }

  /** Calls a tool once, over the connection with the fewest calls. A lost one is replaced first: that time does not count. */
  async call(name: string, args: JsonObject, options: ToolCallOptions): Promise<Answer> {
    const link = this.#leastBusy();
    const opened = (): Promise<Connection> => link.get();
    const connection = link.isOpen
      ? (link.connection as Connection)
      : await (options.queued === undefined ? opened() : options.queued(opened));
    return connection.call(name, args, options);
  }

  async close(): Promise<void> {
    await Promise.all(this.#links.map((link) => link.close()));
  }

  #leastBusy(): Link {
    const links = this.#links;
    let best = links[this.#next++ % links.length] as Link;
    for (const link of links) if ((link.connection?.calls ?? 0) < (best.connection?.calls ?? 0)) best = link;
    return best;
  }
}
