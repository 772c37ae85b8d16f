import { PLUGIN_API_VERSION, type EnvironmentDefinition, type JsonObject, type Plugin } from "@mrlm/spec";
import { optionsJsonSchemaOf } from "./options-json-schema.ts";

/** A plugin without what every plugin of this package has in common. */
export type PluginInput<Options> = Omit<Plugin<Options>, "apiVersion">;

/** Makes a package's default export. */
export function definePlugin<Options = unknown>(plugin: PluginInput<Options>): Plugin<Options> {
  return { apiVersion: PLUGIN_API_VERSION, ...plugin };
}

/**
 * Gives an environment definition its types: those of the options flow from the schema, those of a task's public and private side from `tasks`,
 * to `create`, `demonstrate` and the fixtures. Write `tasks` before them. `optionsJsonSchema` is derived from `options` where it is left out.
 */
export function defineEnvironment<
  Options,
  Public extends JsonObject = JsonObject,
  Private extends JsonObject = JsonObject,
>(definition: EnvironmentDefinition<Options, Public, Private>): EnvironmentDefinition<Options, Public, Private> {
  const { id, options, optionsJsonSchema = options && optionsJsonSchemaOf(id, options) } = definition;
  return optionsJsonSchema === undefined ? definition : { ...definition, optionsJsonSchema };
}
