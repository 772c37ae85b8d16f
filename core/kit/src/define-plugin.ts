import { PLUGIN_API_VERSION, type EnvironmentDefinition, type JsonObject, type Plugin } from "@mrlm/spec";
import { optionsJsonSchemaOf } from "./options-json-schema.ts";

/** Plugin without the fields that `definePlugin` adds. */
export type PluginInput<Options> = Omit<Plugin<Options>, "apiVersion">;

/** Returns the default export of a plugin package. */
export function definePlugin<Options = unknown>(plugin: PluginInput<Options>): Plugin<Options> {
  return { apiVersion: PLUGIN_API_VERSION, ...plugin };
}

/**
 * Infers the types of an environment definition: those of the options from the schema, those of the public and private part of a task from `tasks`. They
 * apply to `create`, `demonstrate` and the fixtures: write `tasks` before these. Derives `optionsJsonSchema` from `options` if it is omitted.
 */
export function defineEnvironment<
  Options,
  Public extends JsonObject = JsonObject,
  Private extends JsonObject = JsonObject,
>(definition: EnvironmentDefinition<Options, Public, Private>): EnvironmentDefinition<Options, Public, Private> {
  const { id, options, optionsJsonSchema = options && optionsJsonSchemaOf(id, options) } = definition;
  return optionsJsonSchema === undefined ? definition : { ...definition, optionsJsonSchema };
}
