import { PLUGIN_API_VERSION, type EnvironmentDefinition, type Plugin } from "@mrlm/spec";

/** A plugin without what every plugin of this package has in common. */
export type PluginInput<Options> = Omit<Plugin<Options>, "apiVersion">;

/** Makes a package's default export. */
export function definePlugin<Options = unknown>(plugin: PluginInput<Options>): Plugin<Options> {
  return { apiVersion: PLUGIN_API_VERSION, ...plugin };
}

/** Gives an environment definition its types: `options` flow from the schema to `create`. */
export function defineEnvironment<Options>(definition: EnvironmentDefinition<Options>): EnvironmentDefinition<Options> {
  return definition;
}
