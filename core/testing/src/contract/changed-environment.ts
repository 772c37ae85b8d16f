import type { SimulatedEnvironment } from "@mrlm/spec";
import type { AnyPlugin } from "../any-plugin.ts";

/** Returns the plugins with an environment whose sessions are changed by a check. */
export function withEnvironment(
  plugins: readonly AnyPlugin[],
  id: string,
  change: (environment: SimulatedEnvironment) => SimulatedEnvironment,
): AnyPlugin[] {
  return plugins.map((plugin) =>
    plugin.environments === undefined
      ? plugin
      : {
          ...plugin,
          environments: plugin.environments.map((definition) =>
            definition.id === id
              ? {
                  ...definition,
                  create: async (context: never, options: never) => change(await definition.create(context, options)),
                }
              : definition,
          ),
        },
  );
}
