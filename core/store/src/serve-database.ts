import { type Channel, serveCalls, toKnownError } from "@mrlm/process";
import { StoreDatabase } from "./store-database.ts";
import type { StoreSettings } from "./store-settings.ts";

/** Methods of a served store. The notice of a call to none of them: another process changed the store. */
export interface ServedDatabase extends Omit<StoreDatabase, "onChange" | typeof Symbol.dispose> {
  /** Opens the store; the first call. */
  start(settings: StoreSettings): void;
}

/** Opens a store for the other side of a channel, and runs its calls one after the other. @param now clock, in milliseconds since 1970 */
export function serveDatabase(channel: Channel, now?: () => number): void {
  let database: StoreDatabase;
  const start = (settings: StoreSettings): void => {
    database = new StoreDatabase(settings, now);
    database.onChange(() => notify(undefined));
  };
  const notify = serveCalls<ServedDatabase>(channel, {
    answer: (method, args) => {
      if (method === "start") return start(args[0] as StoreSettings);
      return (database[method] as (...given: readonly unknown[]) => unknown).apply(database, args as unknown[]);
    },
    toSent: toKnownError,
  });
}
