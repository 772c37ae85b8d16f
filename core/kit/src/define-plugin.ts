import type { EnvironmentDefinition, JsonObject, Plugin } from "@mrlm/spec";
import { PLUGIN_API_VERSION } from "@mrlm/spec/host";
import { optionsJsonSchemaOf } from "./json-schema.ts";

/** Plugin without the fields that `definePlugin` adds. */
export type PluginInput<Options> = Omit<Plugin<Options>, "apiVersion">;

/** Factories of a plugin by kind. */
type Factories<Options> = Required<
  Pick<Plugin<Options>, "scorers" | "judges" | "sandboxes" | "tools" | "policies" | "samplers" | "workspaces">
>;

/** Factories of a kind with these ids. */
type ByIds<Options, Kind extends keyof Factories<Options>, Id extends string> = {
  readonly [_ in Kind]: Readonly<Record<Id, Factories<Options>[Kind][string]>>;
};

/** The same where the ids are known: not of a plugin without the kind, nor of ids that only a run knows. */
type Known<Options, Kind extends keyof Factories<Options>, Id extends string> = [Id] extends [never]
  ? unknown
  : string extends Id
    ? unknown
    : ByIds<Options, Kind, Id>;

/**
 * Returns the default export of a plugin package. The factories receive the options as the schema returns them. The result has the ids: `plugin.scorers["math@2"]`
 * is a factory, where that of another id may be undefined.
 */
export function definePlugin<
  Options = unknown,
  ScorerId extends string = never,
  JudgeId extends string = never,
  Language extends string = never,
  ToolId extends string = never,
  PolicyId extends string = never,
  SamplerId extends string = never,
  Platform extends string = never,
>(
  plugin: PluginInput<Options> &
    Partial<
      ByIds<Options, "scorers", ScorerId> &
        ByIds<Options, "judges", JudgeId> &
        ByIds<Options, "sandboxes", Language> &
        ByIds<Options, "tools", ToolId> &
        ByIds<Options, "policies", PolicyId> &
        ByIds<Options, "samplers", SamplerId> &
        ByIds<Options, "workspaces", Platform>
    >,
): Plugin<Options> &
  Known<Options, "scorers", ScorerId> &
  Known<Options, "judges", JudgeId> &
  Known<Options, "sandboxes", Language> &
  Known<Options, "tools", ToolId> &
  Known<Options, "policies", PolicyId> &
  Known<Options, "samplers", SamplerId> &
  Known<Options, "workspaces", Platform> {
  // The compiler does not see that the conditional types choose members of `plugin`.
  return { apiVersion: PLUGIN_API_VERSION, ...plugin } as never;
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
