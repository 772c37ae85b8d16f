import { MrlmError } from "@mrlm/spec";
import type { PluginOptions } from "../plugins/discover-plugins.ts";
import type { PluginErrors } from "../plugins/plugin-registry.ts";
import type { OptionIssue } from "../plugins/standard-options.ts";
import type { LoadedConfig } from "./load-config.ts";
import { located } from "./located.ts";

/** Returns the options of `PluginHost.discover` that a configuration decides. Errors about an entry of `plugins` name its place or that of the option. */
export function configuredPlugins({ config, source }: LoadedConfig): {
  readonly plugins: Readonly<Record<string, PluginOptions>>;
  readonly relativeTo: string;
  readonly locate: PluginErrors;
} {
  return {
    plugins: config.plugins,
    relativeTo: config.base_directory,
    locate: (error, plugin) => located(error, source.locate(["plugins", plugin, ...optionPath(error)], "key")),
  };
}

/** Returns the path of the first option that an error of `configurePlugin` concerns. */
function optionPath(error: unknown): readonly (string | number)[] {
  if (!MrlmError.hasCode(error, "OPTIONS_INVALID")) return [];
  const { issues = [] } = (error.cause ?? {}) as { issues?: readonly OptionIssue[] };
  const [first] = issues;
  return first === undefined ? [] : [...first.path, ...(first.unknownKeys ?? []).slice(0, 1)];
}
