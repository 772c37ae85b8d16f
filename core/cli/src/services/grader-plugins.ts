import { configuredPlugins, type LoadedConfig, PluginHost } from "@mrlm/runtime";
import type { JsonObject } from "@mrlm/spec";
import { lineLogger } from "../console/line-logger.ts";
import { startRewardEngine } from "./reward-engine.ts";

/**
 * Finds the plugins for a scorer or a judge of a command, in a run those of its configuration. `options` replace those of the grader's plugin; a reward model among the
 * graders gets an engine of its own.
 */
export async function graderPlugins({
  directory,
  loaded,
  kind,
  id,
  options,
  note,
}: {
  readonly directory: string;
  /** Configuration of the run; absent for rows of a file. */
  readonly loaded?: LoadedConfig;
  readonly kind: "judge" | "scorer";
  readonly id: string;
  readonly options: JsonObject;
  readonly note: (line: string) => void;
}): Promise<PluginHost> {
  const logger = lineLogger(note);
  const configured = loaded === undefined ? { plugins: {} } : configuredPlugins(loaded);
  const found = await PluginHost.discover({ directory, logger, ...configured });
  const resolved = found.registry.resolve(kind, id);
  // The request for the grader reports that it does not exist.
  const entry = found.registry.entries.find(
    ({ provides }) => resolved !== undefined && provides.includes(`${kind}:${resolved}`),
  );
  const plugins =
    Object.keys(options).length === 0 || entry === undefined
      ? found
      : await withOptions(entry.configuredAs ?? entry.name);
  startRewardEngine(plugins, note);
  return plugins;

  function withOptions(name: string): Promise<PluginHost> {
    return PluginHost.discover({
      directory,
      logger,
      ...configured,
      plugins: { ...configured.plugins, [name]: options },
      // These options are those of the command line: the configuration has no line of them.
      locate: (error, plugin) =>
        plugin === name || loaded === undefined ? error : configuredPlugins(loaded).locate(error, plugin),
    });
  }
}
