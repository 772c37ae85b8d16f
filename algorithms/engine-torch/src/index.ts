import { definePlugin } from "@mrlm/kit";
import { torchEngineProvider } from "./engine-provider.ts";
import { type SetupOptions, setupOptionsSchema } from "./setup/setup-options.ts";

export { torchEngineProvider } from "./engine-provider.ts";
export { launchEngine, type LaunchOptions } from "./launch/launch-engine.ts";
export { locateEngine, type LocateOptions } from "./setup/locate-engine.ts";
export { setupEngine, type SetupEngineOptions } from "./setup/setup-engine.ts";
export type { SetupOptions } from "./setup/setup-options.ts";

export default definePlugin<SetupOptions>({
  name: "@mrlm/engine-torch",
  options: setupOptionsSchema,
  engines: { "torch@1": (_context, options) => torchEngineProvider(options) },
});
