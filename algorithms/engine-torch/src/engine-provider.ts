import type { EngineProvider } from "@mrlm/spec/host";
import { joinEngine } from "./launch/join-engine.ts";
import { launchEngine } from "./launch/launch-engine.ts";
import { modelStore } from "./models/model-store.ts";
import { locateEngine } from "./setup/locate-engine.ts";
import { setupEngine } from "./setup/setup-engine.ts";

/**
 * Creates the provider of `engine:torch@1`.
 *
 * @param setup - options from the plugin's section of a configuration. Options of a call take precedence.
 */
export function torchEngineProvider(setup: Readonly<Record<string, unknown>> = {}): EngineProvider {
  return {
    setup: ({ progress, extras, options }) =>
      setupEngine({ progress, ...(extras && { extras }), options: { ...setup, ...options } }),
    locate: () => locateEngine({ options: setup }),
    models: modelStore(setup),
    launch: (options) => launchEngine({ ...options, setup }),
    join: (options) => joinEngine({ ...options, setup }),
  };
}
