import type { AnyPlugin } from "../any-plugin.ts";
import { bindChecks } from "../check/plugin-part.ts";
import { exampleChecks } from "../checks/example-checks.ts";
import { provisionParts } from "../checks/provision-parts.ts";
import { type ContractOptions, registerChecks } from "../provision/register-checks.ts";

/** Options of {@link pluginContract}. */
export interface PluginContractOptions extends Omit<ContractOptions, "name"> {
  /** The plugin, then those that provide what it requires. */
  readonly plugins: readonly [AnyPlugin, ...AnyPlugin[]];
}

/**
 * Registers the tests of `mrlm check` for each scorer, judge, tool, sandbox, policy and algorithm of a plugin, with the plugin's `examples`. Environments have
 * `environmentContract`.
 */
export function pluginContract({ plugins, ...options }: PluginContractOptions): void {
  const [plugin] = plugins;
  const own = bindChecks(exampleChecks, async () => ({ plugin }));
  registerChecks({ ...options, name: plugin.name }, own, { subject: "package" });
  for (const { subject, checks, acknowledged } of provisionParts({ plugin, plugins, directory: "", packageJson: {} }))
    registerChecks({ ...options, name: subject }, checks, { subject, acknowledged });
}
