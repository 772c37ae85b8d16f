import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { type JsonObject, MrlmError, type Plugin } from "@mrlm/spec";
import type { StoreDefinition } from "@mrlm/spec/host";
import type { Database, StoreConnection } from "./database.ts";
import type { QueryLine, QueryRequest } from "./query-messages.ts";
import { isPostgres, type StorePlace, withoutPassword } from "./store-place.ts";
import type { StoreSettings } from "./store-settings.ts";

/** Kind of database beside files of SQLite, in a plugin. */
export interface StoreProvider extends StoreDefinition {
  /** Opens the store of a run to write; makes it where it is missing. Throws STORE_INVALID, STORE_FAILED or STORE_UNAVAILABLE. */
  open(settings: StoreSettings): StoreConnection;
  /**
   * Opens the store that a URL names to read; `undefined` where there is none. Throws USAGE for a URL without a run. Statements of the database throw STORE_FAILED
   * or STORE_UNAVAILABLE.
   */
  openToRead(path: string): Database | undefined;
  /** Writes the lines of one SELECT, over a connection that can only read. Rejects as `queryStore` does. */
  query(request: QueryRequest, write: (line: QueryLine) => void): Promise<void>;
  /** Connects the training process of the run that a URL names. */
  announce(path: string): RunAnnouncement;
  /** Connects a process that looks for the run that a URL names. */
  describe(path: string): RunDescription;
}

/** Announcement of a training process to rollout workers that see the database of its run, and not its directory. */
export interface AnnouncedRun {
  /** Resolved configuration of the run in YAML. */
  readonly config: string;
  /** Places of its engines, with their tokens. */
  readonly engines: JsonObject;
}

/** State of a run by its database. */
export interface DescribedRun extends Pick<AnnouncedRun, "config"> {
  /** Absent while no process trains the run; `since` is the time of its announcement in milliseconds since 1970. */
  readonly training?: { readonly since: number; readonly engines: JsonObject };
  /** Whether the run has finished, and nothing trains it. */
  readonly hasEnded: boolean;
  /** Whether a process that trains the run is connected. */
  readonly isLocked: boolean;
}

/** Keeps the announcement of a training process in the database of its run. */
export interface RunAnnouncement {
  /** Announces the run: from here on workers play. The announcement is repeated after a loss of the server. */
  announce(run: AnnouncedRun): Promise<void>;
  /** Removes the places of the engines, those of a killed process too. Does nothing where the database has no such run. */
  withdraw(hasEnded: boolean): Promise<void>;
  /** Ends the connection. */
  close(): Promise<void>;
}

/** Reads the state of a run in its database. */
export interface RunDescription {
  /**
   * Rejects with STORE_UNAVAILABLE where the server does not answer, RUN_NOT_FOUND where it has no such run.
   * @param waitMs longest wait for a server that does not answer
   * @param stop aborted to end the wait
   */
  read(waits?: { readonly waitMs?: number; readonly stop?: AbortSignal }): Promise<DescribedRun>;
  close(): Promise<void>;
}

// Stores are opened in threads and in processes that only read, and readers are synchronous: an import would make each of them wait.
const load = createRequire(import.meta.url);

/**
 * Returns what opens the database of a place; `undefined` for a file. Throws PLUGIN_NOT_FOUND for a database without a plugin, PLUGIN_LOAD_FAILED for a plugin
 * whose module throws.
 */
export function storeProviderOf({ path, plugin }: StorePlace): StoreProvider | undefined {
  if (!isPostgres(path)) return undefined;
  if (plugin === undefined)
    throw new MrlmError(
      "PLUGIN_NOT_FOUND",
      `The episode store ${withoutPassword(path)} is in Postgres, and no plugin that provides store:postgres was found.`,
      {
        hint: "Install it in the project in which mrlm is started: `npm install @mrlm/store-postgres`. Or name it under `plugins` in the config.",
      },
    );
  const { stores = [] } = defaultOf(plugin);
  return stores.find(({ name }) => name === "postgres") as StoreProvider;
}

function defaultOf(plugin: string): Plugin {
  try {
    return (load(fileURLToPath(plugin)) as { readonly default: Plugin }).default;
  } catch (error) {
    throw new MrlmError(
      "PLUGIN_LOAD_FAILED",
      `The plugin of the episode store could not be loaded: ${(error as Error).message}`,
      { cause: error },
    );
  }
}
