import type { OpenToolset, Tool, ToolsetEpisode } from "@mrlm/kit";
import type { Connection, ListedTool } from "./connection.ts";
import { type EpisodeDirectory, episodeDirectory } from "./episode-directory.ts";
import { callableTool, offeredTools } from "./offered-tools.ts";
import { Pool } from "./pool.ts";
import type { Server } from "./server.ts";

/** Connections that outlive an episode. */
export interface LongLived {
  /** Returns the connections of a shared server. */
  shared(server: Server): Pool | undefined;
  /** Returns a connection that no episode has used, which then belongs to the caller. */
  unused(server: Server): Connection | undefined;
}

export class EpisodeTools implements OpenToolset {
  readonly #servers: readonly Server[];
  readonly #pools = new Map<Server, Pool>();
  readonly #longLived: LongLived;
  /** Releases what the episode holds, in the order of taking. */
  readonly #releases: (() => void | Promise<void>)[] = [];
  /** Aborted when the episode ends. */
  readonly #life = new AbortController();
  #closing: Promise<void> | undefined;
  #listed: readonly (readonly ListedTool[])[] = [];
  #tools: readonly Tool[] = [];

  constructor(servers: readonly Server[], longLived: LongLived) {
    this.#servers = servers;
    this.#longLived = longLived;
  }

  /** Tools at this moment. Equal lists of the servers give the same objects. */
  get tools(): readonly Tool[] {
    const listed = this.#servers.map((server) => (this.#pools.get(server) as Pool).tools);
    if (listed.length === this.#listed.length && listed.every((tools, i) => tools === this.#listed[i]))
      return this.#tools;
    this.#listed = listed;
    const offered = offeredTools(this.#servers.map((server, i) => ({ server, tools: listed[i] ?? [] })));
    this.#tools = offered.map((each) => {
      const pool = this.#pools.get(each.server) as Pool;
      return callableTool(each, pool, () => this.#notice(each.server, pool));
    });
    return this.#tools;
  }

  /** Connects with all servers. Closes what it opened if one fails. */
  async open({ files, signal, queued = (wait) => wait() }: ToolsetEpisode): Promise<void> {
    const onAbort = (): void => this.#life.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      signal.throwIfAborted();
      await queued(async () => {
        const directory = this.#servers.some(({ usesEpisodeDirectory }) => usesEpisodeDirectory)
          ? await this.#directory(files)
          : undefined;
        // One after the other, and always in this order: two episodes cannot wait for each other's place.
        for (const server of this.#servers) await this.#prepare(server, directory?.path);
        const opened = await Promise.allSettled([...this.#pools.values()].map((pool) => pool.open()));
        const failed = opened.find((each) => each.status === "rejected");
        if (failed !== undefined) throw failed.reason;
      });
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#life.abort(new Error("the episode has ended"));
    // Processes end before their folder and their place are released.
    for (const release of this.#releases.toReversed()) await release();
  }

  async #directory(files: ToolsetEpisode["files"]): Promise<EpisodeDirectory> {
    const directory = await episodeDirectory(files);
    this.#releases.push(() => directory.remove());
    return directory;
  }

  async #prepare(server: Server, directory: string | undefined): Promise<void> {
    const shared = this.#longLived.shared(server);
    if (shared !== undefined) {
      this.#pools.set(server, shared);
      return;
    }
    const free = await server.places.take(this.#life.signal);
    this.#releases.push(free);
    const pool = new Pool(1, () => server.connect(this.#life.signal, directory), this.#longLived.unused(server));
    this.#releases.push(() => pool.close());
    this.#pools.set(server, pool);
  }

  readonly #noticed = new Map<Server, number>();

  /** Returns the notice that a server of this episode was replaced, once for each replacement. */
  #notice(server: Server, pool: Pool): string | undefined {
    if (server.settings.shared || pool.lost === (this.#noticed.get(server) ?? 0)) return undefined;
    this.#noticed.set(server, pool.lost);
    return `[${server.name} was started again. What it kept of earlier calls is lost.]`;
  }
}
