import { defined } from "@mrlm/spec";
import { isPostgres, type StorePlace } from "@mrlm/store";
import { discoverPlugins, type PluginOptions } from "./discover-plugins.ts";
import { providerOf } from "./install-hint.ts";

/**
 * Returns the place of an episode store, with the plugin that opens it where it is a database: one of the project that this process was started in, or one that a
 * configuration names. Runs no plugin's code. A missing plugin is an error where the store is opened.
 */
export function storePlaceOf(
  path: string,
  {
    plugins = {},
    relativeTo = process.cwd(),
  }: { readonly plugins?: Readonly<Record<string, PluginOptions>>; readonly relativeTo?: string } = {},
): StorePlace {
  if (!isPostgres(path)) return { path };
  const entries = discoverPlugins(process.cwd(), plugins, relativeTo, undefined, (error, plugin) => {
    // Faults of others do not keep a person from the episodes.
    if (plugin === providerOf("store", "postgres")) throw error;
  });
  const module = entries.find(({ provides }) => provides.includes("store:postgres"))?.module;
  return { path, ...defined({ plugin: module }) };
}
