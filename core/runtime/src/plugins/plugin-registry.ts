import { type JsonObject, MrlmError, type Plugin } from "@mrlm/spec";
import { parseVersionedId, type PluginManifest, type ProvisionKind } from "@mrlm/spec/host";
import type { ServiceKind } from "./plugin-kinds.ts";
import { installHint, providerOf } from "./install-hint.ts";
import { didYouMean } from "../names/nearest.ts";
import { resolveVersioned, withBareNames } from "../names/versioned.ts";
import { configurePlugin, type LoadedPlugin } from "./load-plugin.ts";
import { requiredSandboxes } from "./required-sandboxes.ts";

/** Registered plugin. It may not be loaded yet. */
export interface RegistryEntry {
  readonly name: string;
  readonly version: string;
  readonly provides: readonly string[];
  readonly requires: readonly string[];
  /** Sentences for errors about former ids; see `PluginManifest`. */
  readonly supersedes?: PluginManifest["supersedes"];
  readonly options: JsonObject | undefined;
  /** Folder of its package; absent for a plugin that was given as a value. */
  readonly directory?: string;
  /** URL of the module with the default export; absent as well. */
  readonly module?: string;
  /** Name of the plugin in the configuration, where it differs: a path. */
  readonly configuredAs?: string;
  /** @param sandboxesOf languages of the sandboxes that a provision requires by the manifests of all plugins */
  load(sandboxesOf: (provision: string) => readonly string[]): Promise<Plugin>;
}

/** Adds the place of an entry of `plugins` in the configuration to an error about it. */
export type PluginErrors = (error: unknown, plugin: string) => unknown;

/** Loaded plugin that provides an id. */
export interface Provider extends LoadedPlugin {
  readonly entry: RegistryEntry;
}

/** Registry of what plugins provide. A plugin's code is loaded once, at the first use of something that it provides. */
export class PluginRegistry {
  readonly entries: readonly RegistryEntry[];
  readonly #providers = new Map<string, RegistryEntry>();
  readonly #loaded = new Map<RegistryEntry, Promise<LoadedPlugin>>();

  private constructor(entries: readonly RegistryEntry[]) {
    this.entries = entries;
    for (const entry of entries) for (const id of entry.provides) this.#register(id, entry);
  }

  /**
   * Validates the options of plugins that have some, which loads their code. Rejects with PLUGIN_CONFLICT if two plugins provide the same id, or with
   * OPTIONS_INVALID.
   * @param locate adds the place of a plugin in the configuration to an error
   */
  static async of(entries: readonly RegistryEntry[], locate: PluginErrors = (error) => error): Promise<PluginRegistry> {
    const registry = new PluginRegistry(entries);
    const configured = entries.filter((entry) => entry.options !== undefined);
    await Promise.all(
      configured.map((entry) =>
        registry.load(entry).catch((error: unknown) => {
          throw locate(error, entry.configuredAs ?? entry.name);
        }),
      ),
    );
    return registry;
  }

  /** Returns the ids of one kind, in the order of registration. */
  ids(kind: ProvisionKind): string[] {
    const prefix = `${kind}:`;
    return [...this.#providers.keys()].filter((id) => id.startsWith(prefix)).map((id) => id.slice(prefix.length));
  }

  /** Finds a provision by its id (`math@2`), or the newest version by its name (`math`). */
  resolve(kind: ProvisionKind, name: string): string | undefined {
    return resolveVersioned(name, this.ids(kind));
  }

  /**
   * Returns the hint about a former version: "math@2 replaces math@1.", with the sentences of the plugin that replaces it.
   * @returns `undefined` for a name without a higher version
   */
  replacement(kind: ProvisionKind, name: string): string | undefined {
    const former = parseVersionedId(name);
    const newest = former === undefined ? undefined : this.resolve(kind, former.name);
    if (newest === undefined || (parseVersionedId(newest)?.version ?? 0) <= (former?.version ?? 0)) return undefined;
    const note = this.entry(kind, newest)?.supersedes?.[`${kind}:${name}`];
    return `${newest} replaces ${name}.${note === undefined ? "" : ` ${note}`}`;
  }

  /** Returns the plugin that provides an id; it may not be loaded yet. */
  entry(kind: ProvisionKind, id: string): RegistryEntry | undefined {
    return this.#providers.get(`${kind}:${id}`);
  }

  /** Returns the plugin that provides an id, loaded and configured. */
  async provider(kind: ProvisionKind, id: string): Promise<Provider> {
    const entry = this.entry(kind, id);
    if (entry === undefined) throw new MrlmError("INTERNAL", `No plugin provides ${kind} ${id}.`);
    return { ...(await this.load(entry)), entry };
  }

  /** Imports and configures a plugin, once. */
  load(entry: RegistryEntry): Promise<LoadedPlugin> {
    const loaded =
      this.#loaded.get(entry) ??
      entry
        .load((provision) => requiredSandboxes(this.entries, provision))
        .then((plugin) => configurePlugin(plugin, entry.name, entry.options));
    this.#loaded.set(entry, loaded);
    return loaded;
  }

  #register(id: string, entry: RegistryEntry): void {
    const other = this.#providers.get(id);
    if (other !== undefined && other !== entry) {
      throw new MrlmError("PLUGIN_CONFLICT", `Plugins ${other.name} and ${entry.name} both provide ${id}.`, {
        hint: `Uninstall one of them, or leave it out in the config: \`plugins: { "${entry.name}": false }\`.`,
      });
    }
    this.#providers.set(id, entry);
  }
}

/** Creates a REQUIREMENT_MISSING error with the nearest name. */
export function missingRequirement(
  asker: string,
  kind: ServiceKind,
  name: string,
  registry: Pick<PluginRegistry, "ids" | "replacement">,
): MrlmError {
  const suggestion = didYouMean(name, withBareNames(registry.ids(kind)));
  // A name close to a known one is probably a typing error. A package with the misspelt name could be malicious.
  const hint =
    registry.replacement(kind, name) ??
    (suggestion === "" || providerOf(kind, name) !== undefined
      ? `${installHint(kind, name)} Or name a plugin that provides it under \`plugins\` in the config.`
      : "Correct the name, or name the plugin that provides it under `plugins` in the config.");
  return new MrlmError(
    "REQUIREMENT_MISSING",
    `${asker} requires ${kind} "${name}", which no plugin provides.${suggestion}`,
    { hint },
  );
}
