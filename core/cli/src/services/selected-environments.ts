import { didYouMean, type EnvironmentSource, type PluginHost } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";

/** Returns all environments of the plugins, or only the named ones. Rejects with ENVIRONMENT_NOT_FOUND and the nearest name for one that is not installed. */
export async function selectedEnvironments(
  plugins: PluginHost,
  names: readonly string[] | undefined,
): Promise<EnvironmentSource> {
  if (names === undefined) return plugins;
  const definitions = await Promise.all(names.map((name) => plugins.environment(name.trim())));
  const ids = [...new Set(definitions.map(({ id }) => id))];
  const notFound = (message: string): MrlmError =>
    new MrlmError("ENVIRONMENT_NOT_FOUND", message, { hint: `Available: ${ids.join(", ")}.` });
  return {
    environments: () => ids,
    async environment(name) {
      const definition = await plugins.environment(name).catch((error: unknown) => {
        throw MrlmError.hasCode(error, "ENVIRONMENT_NOT_FOUND")
          ? notFound(`There is no environment "${name}".${didYouMean(name, names)}`)
          : error;
      });
      if (ids.includes(definition.id)) return definition;
      throw notFound(`Environment ${definition.id} is installed but not served here.`);
    },
    packageOf: (id) => plugins.packageOf(id),
    service: (kind, name, asker) => plugins.service(kind, name, asker),
    close: () => plugins.close(),
  };
}
