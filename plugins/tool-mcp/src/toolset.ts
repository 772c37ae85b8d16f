import {
  type Determinism,
  type Logger,
  MrlmError,
  type OpenToolset,
  Places,
  type PluginContext,
  type ToolDefinition,
  type Toolset,
  type ToolsetEpisode,
} from "@mrlm/kit";
import type { Connection, ListedTool } from "./connection.ts";
import { episodeDirectory } from "./episode-directory.ts";
import { EpisodeTools } from "./episode-tools.ts";
import { assertListed, definitionOf, offeredTools } from "./offered-tools.ts";
import { type McpOptions, settingsOf } from "./options.ts";
import { Pool } from "./pool.ts";
import { Server } from "./server.ts";

/** Number of tools that a warning names. */
const NAMED = 5;

/** Tools of MCP servers. */
export class McpToolset implements Toolset {
  /** Another process answers: equal calls need not give equal results. */
  readonly determinism: Determinism = "none";
  readonly #logger: Logger;
  readonly #servers: readonly Server[];
  readonly #shared = new Map<Server, Pool>();
  /** Connections from the preparation that no episode has used. */
  readonly #unused = new Map<Server, Connection>();
  readonly #episodes = new Set<EpisodeTools>();
  /** Aborted when the toolset closes. */
  readonly #life = new AbortController();
  #definitions: readonly ToolDefinition[] = [];

  private constructor(context: PluginContext, options: McpOptions) {
    this.#logger = context.logger;
    const shared = {
      logger: context.logger,
      starts: new Places(options.starts),
      dataPath: (path: string) => context.dataPath(path),
    };
    this.#servers = Object.entries(options.mcpServers)
      .filter(([, { disabled }]) => !disabled)
      .map(([name, entry]) => new Server(name, entry, settingsOf(options, name), shared));
  }

  /** Starts each server once, which finds faults before a run begins. Shared servers stay; the others serve the first episode. */
  static async create(context: PluginContext, options: McpOptions): Promise<McpToolset> {
    if (Object.keys(options.mcpServers).length === 0)
      throw new MrlmError("OPTIONS_INVALID", "Options of plugin @mrlm/tool-mcp: mcpServers: there is no server.", {
        hint: 'Name servers in the configuration: `plugins: { "@mrlm/tool-mcp": { mcpServers: { ... } } }`.',
      });
    const toolset = new McpToolset(context, options);
    try {
      await toolset.#prepare();
      return toolset;
    } catch (error) {
      await toolset.close();
      throw error;
    }
  }

  get definitions(): readonly ToolDefinition[] {
    return this.#definitions;
  }

  async open(episode: ToolsetEpisode): Promise<OpenToolset> {
    const tools = new EpisodeTools(this.#servers, {
      shared: (server) => this.#shared.get(server),
      unused: (server) => {
        const connection = this.#unused.get(server);
        this.#unused.delete(server);
        if (connection?.isUsable === true) return connection;
        void connection?.close();
        return undefined;
      },
    });
    this.#episodes.add(tools);
    try {
      await tools.open(episode);
    } catch (error) {
      this.#episodes.delete(tools);
      throw error;
    }
    return {
      get tools() {
        return tools.tools;
      },
      close: async () => {
        await tools.close();
        this.#episodes.delete(tools);
      },
    };
  }

  async close(): Promise<void> {
    this.#life.abort(new Error("the tools were closed"));
    const unused = [...this.#unused.values()];
    this.#unused.clear();
    await Promise.all([...this.#episodes, ...this.#shared.values(), ...unused].map((each) => each.close()));
  }

  async #prepare(): Promise<void> {
    const outcomes = await Promise.allSettled(this.#servers.map((server) => this.#toolsOf(server)));
    const listed = outcomes.map((outcome, i) => {
      if (outcome.status === "rejected") throw unavailable(outcome.reason);
      return { server: this.#servers[i] as Server, tools: outcome.value };
    });
    for (const { server, tools } of listed) assertListed(server, tools);
    const offered = offeredTools(listed);
    this.#definitions = offered.map((each) => definitionOf(each));
    const mapped = offered.flatMap(({ server, tool, name }) =>
      name === `${server.name}__${tool.name}` ? [] : [`${name} is ${tool.name} of ${server.name}`],
    );
    if (mapped.length > 0)
      this.#logger.info(`Names of MCP tools that policies cannot spell are replaced: ${mapped.join("; ")}.`);
    const keeping = offered.filter(({ server, tool }) => server.settings.shared && !tool.isReadOnly);
    for (const [name, own = []] of Object.entries(Object.groupBy(keeping, ({ server }) => server.name))) {
      const names = own.slice(0, NAMED).map(({ tool }) => tool.name);
      const which = own.length > NAMED ? `${names.join(", ")} and ${own.length - NAMED} more` : names.join(", ");
      this.#logger.warn(
        `All episodes share the MCP server ${name}, which does not state by \`readOnlyHint\` that calls of ${which} change nothing: an episode can read what another wrote. Without \`shared\` each episode has a server of its own.`,
      );
    }
  }

  /** Starts a server and returns its tools. */
  async #toolsOf(server: Server): Promise<readonly ListedTool[]> {
    const { signal } = this.#life;
    const { shared, processes = 1 } = server.settings;
    if (shared) {
      const pool = new Pool(processes, () => server.connect(signal));
      this.#shared.set(server, pool);
      await pool.open();
      return pool.tools;
    }
    const directory = server.usesEpisodeDirectory ? await episodeDirectory() : undefined;
    try {
      const connection = await server.connect(signal, directory?.path);
      if (directory === undefined) this.#unused.set(server, connection);
      else await connection.close();
      return connection.tools;
    } finally {
      await directory?.remove();
    }
  }
}

function unavailable(error: unknown): MrlmError {
  return new MrlmError("TOOL_FAILED", error instanceof Error ? error.message : String(error), {
    hint: "Start the command of `mcpServers` by hand, or raise `start_timeout_ms` of the server.",
  });
}
