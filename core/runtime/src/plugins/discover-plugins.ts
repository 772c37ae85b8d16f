import { realpathSync } from "node:fs";
import { type JsonObject, MrlmError } from "@mrlm/spec";
import { didYouMean } from "../names/nearest.ts";
import { importPlugin } from "./load-plugin.ts";
import {
  directDependencies,
  packageDirectory,
  type PluginPackage,
  projectDirectory,
  readPluginPackage,
} from "./plugin-package.ts";
import type { PluginErrors, RegistryEntry } from "./plugin-registry.ts";

/** Configuration of a plugin: its options, or `false` to exclude it. */
export type PluginOptions = JsonObject | boolean;

/**
 * Finds plugins: the project around `directory` if it is a plugin, those among its direct dependencies, and those that the configuration names (packages, or
 * paths of package directories). Does not search `node_modules` for others.
 * @param onFault receives the error of a plugin that is left out; default: throws it
 */
export function discoverPlugins(
  directory: string,
  configured: Readonly<Record<string, PluginOptions>>,
  relativeTo: string,
  locate: PluginErrors = (error) => error,
  onFault: (error: unknown, plugin: string) => void = (error) => {
    throw error;
  },
): RegistryEntry[] {
  const project = projectDirectory(directory);
  const dependencies = project === undefined ? [] : directDependencies(project);
  const found = new Map<string, RegistryEntry>();
  const read = (place: string, name: string): PluginPackage | undefined => {
    try {
      return readPluginPackage(place);
    } catch (error) {
      onFault(error, name);
      return undefined;
    }
  };
  const own = project === undefined ? undefined : read(realpathSync(project), project);
  if (own !== undefined && configured[own.name] !== false) found.set(own.directory, entryOf(own, configured[own.name]));
  for (const name of dependencies) {
    const place = packageDirectory(name, project as string);
    const plugin = place === undefined || configured[name] === false ? undefined : read(place, name);
    if (plugin !== undefined) found.set(plugin.directory, entryOf(plugin, configured[name]));
  }
  for (const [name, options] of Object.entries(configured)) {
    if (options === false) continue;
    try {
      const plugin = namedPlugin(name, [relativeTo, directory], dependencies);
      found.set(plugin.directory, { ...entryOf(plugin, options), configuredAs: name });
    } catch (error) {
      onFault(locate(error, name), name);
    }
  }
  return [...found.values()];
}

function namedPlugin(name: string, starts: readonly string[], dependencies: readonly string[]): PluginPackage {
  const directory = starts.map((start) => packageDirectory(name, start)).find((place) => place !== undefined);
  if (directory === undefined) {
    const suggestion = didYouMean(name, dependencies);
    // A package with a misspelt name could be malicious, so the error does not suggest its installation.
    const missing = suggestion === "" ? `Install it: \`npm install ${name}\`.` : "Correct the name under `plugins`.";
    throw new MrlmError(
      "PLUGIN_NOT_FOUND",
      `Plugin "${name}", which the config names, is not installed.${suggestion}`,
      {
        hint: /^\.{0,2}\//.test(name) ? "Check the path: it must be a directory with a package.json." : missing,
      },
    );
  }
  const plugin = readPluginPackage(directory);
  if (plugin === undefined)
    throw new MrlmError(
      "PLUGIN_INVALID",
      `Package ${name}, which the config names as a plugin, has no "mrlm" field in its package.json.`,
    );
  return plugin;
}

function entryOf(plugin: PluginPackage, options: PluginOptions | undefined): RegistryEntry {
  return {
    name: plugin.name,
    version: plugin.version,
    provides: plugin.manifest.provides,
    requires: plugin.manifest.requires ?? [],
    supersedes: plugin.manifest.supersedes,
    options: typeof options === "object" ? options : undefined,
    directory: plugin.directory,
    module: plugin.entry,
    load: (sandboxesOf) => importPlugin(plugin, sandboxesOf),
  };
}
