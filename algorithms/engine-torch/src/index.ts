import { definePlugin } from "@mrlm/kit";
import { torchEngineProvider } from "./engine-provider.ts";
import { type SetupOptions, setupOptionsSchema } from "./setup/setup-options.ts";

export { launchEngine } from "./launch/launch-engine.ts";
export { locateEngine } from "./setup/locate-engine.ts";
export { setupEngine } from "./setup/setup-engine.ts";

export default definePlugin<SetupOptions>({
  name: "@mrlm/engine-torch",
  options: setupOptionsSchema,
  engines: { "torch@1": (_context, options) => torchEngineProvider(options) },
});
