import type { StoreConnection } from "./database.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { storeProviderOf } from "./store-provider.ts";
import type { StoreSettings } from "./store-settings.ts";

/** Opens the database of a store to write. */
export function openConnection(settings: StoreSettings): StoreConnection {
  const { path, run, busyMs = 10_000 } = settings;
  return storeProviderOf(settings)?.open(settings) ?? new SqliteConnection(path, run, busyMs);
}
