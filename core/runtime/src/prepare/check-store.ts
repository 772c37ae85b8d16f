import { storeProviderOf } from "@mrlm/store";
import { configuredPlugins } from "../config/configured-plugins.ts";
import type { LoadedConfig } from "../config/load-config.ts";
import { located } from "../config/located.ts";
import { storePlaceOf } from "../plugins/store-plugin.ts";

/** Throws PLUGIN_NOT_FOUND or PLUGIN_LOAD_FAILED, with the place in the configuration, for a database that no plugin opens. */
export function checkStore(loaded: LoadedConfig): void {
  const { url } = loaded.config.store;
  try {
    if (url !== undefined) storeProviderOf(storePlaceOf(url, configuredPlugins(loaded)));
  } catch (error) {
    throw located(error, loaded.source.locate(["store"]));
  }
}
