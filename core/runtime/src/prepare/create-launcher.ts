import { MrlmError } from "@mrlm/spec";
import type { Launcher } from "@mrlm/spec/host";
import type { LoadedConfig } from "../config/load-config.ts";
import { located } from "../config/located.ts";
import type { AlgorithmSource } from "../plugins/plugin-kinds.ts";
import { describeIssues, validateOptions } from "../plugins/standard-options.ts";

/** Creates the launcher that a configuration names; default: `local`. Errors name the place in the configuration. */
export async function createLauncher(
  { config, source }: LoadedConfig,
  plugins: Pick<AlgorithmSource, "launcher">,
): Promise<Launcher> {
  const { use, ...options } = config.launcher ?? { use: "local" };
  try {
    const definition = await plugins.launcher(use);
    const outcome = await validateOptions(definition.options, options);
    if (outcome.ok) return await definition.create(outcome.value);
    throw new MrlmError(
      "CONFIG_INVALID",
      `Options of launcher ${use}: ${describeIssues(outcome.issues, definition.options)}.`,
    );
  } catch (error) {
    throw located(error, source.locate(["launcher"]));
  }
}
