import { didYouMean, type EnvironmentSource, type PluginHost } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";

/** Names of environments; `all` that are installed; `undefined` for those of them that any client may use. */
export type ChosenEnvironments = readonly string[] | "all" | undefined;

/**
 * Bridges connect to hosts that the options of a client name, and send variables of this process there, or run Python or JavaScript that the options name.
 * A server that a person starts offers them only where it names them. A server that a run starts has the run as its one client.
 */
const BRIDGES = ["openenv@2", "ors@2", "python-env@1", "cases@1"];

/** Returns the chosen environments of the plugins. Rejects with ENVIRONMENT_NOT_FOUND and the nearest name for one that is not installed. */
export async function selectedEnvironments(plugins: PluginHost, names: ChosenEnvironments): Promise<EnvironmentSource> {
  if (names === "all") return plugins;
  const ids =
    names === undefined
      ? plugins.environments().filter((id) => !BRIDGES.includes(id))
      : [...new Set(await Promise.all(names.map(async (name) => (await plugins.environment(name)).id)))];
  const notFound = (message: string, remedy = ""): MrlmError =>
    new MrlmError("ENVIRONMENT_NOT_FOUND", message, { hint: `${remedy} Available: ${ids.join(", ")}.`.trimStart() });
  return {
    environments: () => ids,
    async environment(name) {
      const definition = await plugins.environment(name).catch((error: unknown) => {
        throw MrlmError.hasCode(error, "ENVIRONMENT_NOT_FOUND")
          ? notFound(
              `There is no environment "${name}".${didYouMean(name, names ?? ids)}`,
              plugins.registry.replacement("environment", name),
            )
          : error;
      });
      if (ids.includes(definition.id)) return definition;
      throw notFound(`Environment ${definition.id} is installed but not served here (--environments names it).`);
    },
    packageOf: (id) => plugins.packageOf(id),
    service: (kind, name, asker) => plugins.service(kind, name, asker),
    close: () => plugins.close(),
  };
}
