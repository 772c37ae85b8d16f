import { loadConfig, configuredPlugins, PluginHost } from "@mrlm/runtime";
import { type JsonObject, MrlmError } from "@mrlm/spec";
import type { CommandContext } from "../command-context.ts";
import { table } from "../console/table.ts";
import { describeLayers, sandboxLayers } from "../services/sandboxes.ts";
import { VERSION } from "../version.ts";

/** Options of `mrlm info`. */
export interface InfoArguments {
  readonly config?: string;
  readonly set?: readonly string[];
}

/** Prints versions, plugins and what they provide, the state of the engine and the isolation layers of the sandboxes. */
export async function info({ console, directory }: CommandContext, args: InfoArguments): Promise<void> {
  if (args.config === undefined && args.set !== undefined)
    throw new MrlmError("USAGE", "--set is for the keys of a configuration: give --config too.");
  const loaded = args.config === undefined ? undefined : loadConfig(args.config, { overrides: args.set ?? [] });
  const plugins = await PluginHost.discover({ directory, ...(loaded === undefined ? {} : configuredPlugins(loaded)) });
  try {
    const entries = plugins.registry.entries;
    const engines = await Promise.all(
      plugins.registry
        .ids("engine")
        .map(async (id) => ({ id, installation: await (await plugins.engine(id)).locate() })),
    );
    const sandboxes = await sandboxLayers(plugins);
    console.print(`mrlm ${VERSION}, Node ${process.versions.node}, ${process.platform} ${process.arch}\n`);
    if (entries.length === 0) console.note(`note: no plugins among the dependencies of a project around ${directory}`);
    console.print(
      table([
        ["plugin", "version", "provides"],
        ...entries.map((entry) => [entry.name, entry.version, entry.provides.join(", ")]),
      ]),
    );
    console.print("");
    for (const { id, installation } of engines) {
      const versions = Object.entries(installation?.versions ?? {}).map(([name, version]) => `${name} ${version}`);
      console.print(
        installation === undefined
          ? `engine ${id}: not set up (run \`mrlm engine setup\`)`
          : `engine ${id}: ${versions.join(", ")}\n  in ${installation.directory}`,
      );
    }
    for (const layers of sandboxes) console.print(describeLayers(layers));
    console.emit({
      event: "info",
      mrlm: VERSION,
      node: process.versions.node,
      platform: `${process.platform} ${process.arch}`,
      plugins: entries.map(({ name, version, provides }) => ({ name, version, provides: [...provides] })),
      engines: engines.map(({ id, installation }): JsonObject => ({
        id,
        installed: installation !== undefined,
        ...(installation === undefined
          ? {}
          : { directory: installation.directory, versions: { ...installation.versions } }),
      })),
      sandboxes: sandboxes.map(({ active, missing, ...rest }): JsonObject => ({
        ...rest,
        active: [...active],
        missing: missing.map((layer) => ({ ...layer })),
      })),
    });
  } finally {
    await plugins.close();
  }
}
