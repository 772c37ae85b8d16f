import type { Plugin, Toolset } from "@mrlm/kit";
import { barePluginContext } from "@mrlm/testing";
import plugin from "../../src/index.ts";

/**
 * Returns the plugins of the environment and of what it requires. They are found by name when the test runs, as a host finds them: no plugin imports
 * another. All hosts of a test file share the toolset, whose threads take long to start.
 */
export async function researchPlugins(): Promise<{ readonly plugins: readonly Plugin[]; close(): Promise<void> }> {
  const { options, tools = {}, ...rest } = await pluginOf("tool-web");
  const parsed = await options?.["~standard"].validate({});
  if (parsed?.issues !== undefined) throw new Error(JSON.stringify(parsed.issues));
  const toolset = (await tools["web@1"]?.(barePluginContext(), parsed?.value)) as Toolset;
  const shared: Toolset = { ...toolset, open: (episode) => toolset.open(episode), close: async () => undefined };
  const web: Plugin = { ...rest, tools: { "web@1": () => shared } };
  return {
    plugins: [plugin, await pluginOf("scorer-math"), web],
    close: async () => toolset.close?.(),
  };
}

async function pluginOf(name: string): Promise<Plugin> {
  const { default: found } = (await import(`@mrlm/${name}`)) as { default: Plugin };
  return found;
}
