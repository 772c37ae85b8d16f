import type { EnvironmentSource, PluginHost } from "@mrlm/runtime";
import { MrlmError } from "@mrlm/spec";

/** The plugins' environments, or only those that were named. Rejects with ENVIRONMENT_NOT_FOUND, with the nearest name, for one that is not installed. */
export async function selectedEnvironments(plugins: PluginHost, names: readonly string[] | undefined): Promise<EnvironmentSource> {
  if (names === undefined) return plugins;
  const definitions = await Promise.all(names.map((name) => plugins.environment(name.trim())));
  const ids = [...new Set(definitions.map(({ id }) => id))];
  return {
    environments: () => ids,
    async environment(name) {
      const definition = await plugins.environment(name);
      if (ids.includes(definition.id)) return definition;
      throw new MrlmError("ENVIRONMENT_NOT_FOUND", `Environment ${definition.id} is installed but not served here.`, { hint: `On offer: ${ids.join(", ")}.` });
    },
    service: (kind, name, asker) => plugins.service(kind, name, asker),
    close: () => plugins.close(),
  };
}
