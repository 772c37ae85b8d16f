import { type EnvironmentDefinition, type JsonObject, MrlmError, type Plugin } from "@mrlm/spec";
import { PLUGIN_API_VERSION } from "@mrlm/spec/host";
import { importFault } from "./import-fault.ts";
import type { PluginPackage } from "./plugin-package.ts";
import { provisionsOf, requirementsOf } from "./plugin-kinds.ts";
import { describeIssues, validateOptions } from "./standard-options.ts";

/** Plugin whose code has been loaded, with its validated options. */
export interface LoadedPlugin {
  readonly plugin: Plugin;
  readonly options: unknown;
}

/**
 * Imports a plugin's entry and compares its default export with its manifest.
 * @param sandboxesOf languages of the sandboxes that a provision requires by the manifests of all plugins
 */
export async function importPlugin(
  found: PluginPackage,
  sandboxesOf: (provision: string) => readonly string[],
): Promise<Plugin> {
  const { name, manifest, entry } = found;
  let module: { readonly default?: unknown };
  try {
    module = (await import(entry)) as { readonly default?: unknown };
  } catch (error) {
    if (MrlmError.isInstance(error)) throw error;
    throw importFault(found, error);
  }
  const plugin = module.default as Plugin | undefined;
  if (typeof plugin !== "object" || plugin === null) {
    throw new MrlmError("PLUGIN_INVALID", `Plugin ${name} has no default export made by definePlugin().`, {
      hint: `Export it from ${manifest.entry}: \`export default definePlugin({ ... })\`.`,
    });
  }
  if (plugin.apiVersion !== PLUGIN_API_VERSION) {
    throw new MrlmError(
      "PLUGIN_API_VERSION",
      `The default export of plugin ${name} was made for version ${plugin.apiVersion} of the plugin interface; this mrlm supports version ${PLUGIN_API_VERSION}.`,
    );
  }
  assertNoneTwice(plugin);
  assertSame(name, "provides", manifest.provides, provisionsOf(plugin), "it exports");
  const { requires = [] } = manifest;
  const known = requirementsOf(plugin);
  // Requirements of services, and of environments under some options, are known only when they are created.
  const depends =
    [plugin.scorers, plugin.judges, plugin.sandboxes, plugin.tools, plugin.policies].some(
      (factories) => factories !== undefined,
    ) ||
    (plugin.environments?.some((definition) => typeof definition.requires === "function") ?? false);
  assertSame(
    name,
    "requires",
    requires.filter((id) => !depends || known.includes(id)),
    known,
    "its environments require",
  );
  if (!depends) return plugin;
  return {
    ...plugin,
    environments: plugin.environments?.map((definition) =>
      withListedSandboxes(definition, { name, requires, sandboxesOf }),
    ) as Plugin["environments"] & {},
  };
}

/**
 * Wraps an environment to reject options that require a sandbox, itself or for a tool, which nothing that the manifest lists requires: `mrlm serve` inspects only
 * the isolation of those.
 */
function withListedSandboxes(
  definition: EnvironmentDefinition,
  plugin: {
    readonly name: string;
    readonly requires: readonly string[];
    sandboxesOf(provision: string): readonly string[];
  },
): EnvironmentDefinition {
  const { requires } = definition;
  if (typeof requires !== "function") return definition;
  const checked: typeof requires = async (context, options) => {
    const required = await requires.call(definition, context, options);
    const inspected = plugin.requires.flatMap((id) => plugin.sandboxesOf(id));
    const unlisted = required.find(({ id }) =>
      plugin.sandboxesOf(id).some((language) => !inspected.includes(language)),
    );
    if (unlisted === undefined) return required;
    throw new MrlmError(
      "PLUGIN_INVALID",
      `Environment ${definition.id} requires ${unlisted.id} (${unlisted.asker}), which the manifest of plugin ${plugin.name} does not list.`,
      {
        hint: `Add "${unlisted.id}" to \`mrlm.requires\` in its package.json: it runs code of a model, whose isolation \`mrlm serve\` inspects.`,
      },
    );
  };
  return Object.create(definition, { requires: { value: checked, enumerable: true } }) as EnvironmentDefinition;
}

/** Throws PLUGIN_INVALID if a plugin exports two things under one id: only the first could be used. */
export function assertNoneTwice(plugin: Plugin): void {
  const provided = provisionsOf(plugin);
  const twice = provided.find((id, i) => provided.indexOf(id) !== i);
  if (twice === undefined) return;
  throw new MrlmError("PLUGIN_INVALID", `Plugin ${plugin.name} exports ${twice} twice.`, {
    hint: "Give each an id of its own, or raise the version of one.",
  });
}

function assertSame(
  name: string,
  field: "provides" | "requires",
  listed: readonly string[],
  found: readonly string[],
  what: string,
): void {
  const missing = listed.filter((id) => !found.includes(id));
  const unlisted = found.filter((id) => !listed.includes(id));
  if (missing.length === 0 && unlisted.length === 0) return;
  const parts = [
    ...(missing.length > 0 ? [`the manifest lists ${missing.join(", ")}, which the export lacks`] : []),
    ...(unlisted.length > 0 ? [`the export has ${unlisted.join(", ")}, which the manifest does not list`] : []),
  ];
  throw new MrlmError(
    "PLUGIN_INVALID",
    `The manifest and the default export of plugin ${name} disagree about \`${field}\`: ${parts.join("; ")}.`,
    {
      hint: `Make \`mrlm.${field}\` in its package.json list exactly what ${what}.`,
    },
  );
}

/** Validates the options of a plugin in the configuration. */
export async function configurePlugin(
  plugin: Plugin,
  name: string,
  given: JsonObject | undefined,
): Promise<LoadedPlugin> {
  if (plugin.options === undefined) {
    const key = Object.keys(given ?? {})[0];
    if (key !== undefined)
      throw new MrlmError("OPTIONS_INVALID", `Plugin ${name} takes no options; the config gives it "${key}".`);
    return { plugin, options: {} };
  }
  const outcome = await validateOptions(plugin.options, given ?? {});
  if (outcome.ok) return { plugin, options: outcome.value };
  throw new MrlmError(
    "OPTIONS_INVALID",
    `Options of plugin ${name}: ${describeIssues(outcome.issues, plugin.options)}.`,
    {
      cause: { issues: outcome.issues },
    },
  );
}
