import type { Plugin } from "@mrlm/spec";
import { PLUGIN_API_VERSION } from "@mrlm/spec/host";
import type { StoreProvider } from "@mrlm/store/provider";
import { openPostgresToRead, PostgresConnection } from "./connection.ts";
import { PostgresAnnouncement, PostgresDescription } from "./run.ts";
import { runPostgresQuery } from "./run-query.ts";

/** `postgres`: each run in a schema of a database of Postgres. */
const postgres: StoreProvider = {
  name: "postgres",
  open: (settings) => new PostgresConnection(settings),
  openToRead: openPostgresToRead,
  query: runPostgresQuery,
  announce: (path) => new PostgresAnnouncement(path),
  describe: (path) => new PostgresDescription(path),
};

// Each thread and process that opens a store loads this module: without @mrlm/kit it does so in less time.
export default {
  apiVersion: PLUGIN_API_VERSION,
  name: "@mrlm/store-postgres",
  stores: [postgres],
} satisfies Plugin;
