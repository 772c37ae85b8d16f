import type { StoreConnection } from "./database.ts";
import { PostgresConnection } from "./postgres-connection.ts";
import { isPostgres } from "./postgres-place.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import type { StoreSettings } from "./store-settings.ts";

/** Opens the database of a store to write. */
export function openConnection(settings: StoreSettings): StoreConnection {
  const { path, run, busyMs = 10_000, reconnectMs = 600_000 } = settings;
  if (isPostgres(path)) return new PostgresConnection(path, run, { connectMs: busyMs, reconnectMs });
  return new SqliteConnection(path, run, busyMs);
}
