import type { Plugin, Toolset } from "@mrlm/kit";
import { barePluginContext } from "@mrlm/testing";
import plugin from "../../src/index.ts";

/** Plugins of a test file. */
export interface SharedPlugins {
  readonly plugins: readonly Plugin[];
  close(): Promise<void>;
}

/**
 * Returns the plugins of the environment and of what it requires. They are found by name when the test runs, as a host finds them: no plugin imports
 * another. The name is a variable for that reason. All hosts of a test file share the toolsets, whose processes and threads take long to start.
 */
export async function toolsPlugins(): Promise<SharedPlugins> {
  const shared = await Promise.all(["calculator", "files", "web"].map(sharing));
  return {
    plugins: [plugin, await pluginOf("scorer-math"), ...shared.map((each) => each.plugin)],
    close: async () => {
      for (const { toolset } of shared) await toolset.close?.();
    },
  };
}

async function pluginOf(name: string): Promise<Plugin> {
  const { default: found } = (await import(`@mrlm/${name}`)) as { default: Plugin };
  return found;
}

async function sharing(name: string): Promise<{ readonly plugin: Plugin; readonly toolset: Toolset }> {
  const { options, tools = {}, ...rest } = await pluginOf(`tool-${name}`);
  const parsed = await options?.["~standard"].validate({});
  if (parsed?.issues !== undefined) throw new Error(JSON.stringify(parsed.issues));
  const id = `${name}@1`;
  const toolset = (await tools[id]?.(barePluginContext(), parsed?.value)) as Toolset;
  const shared: Toolset = {
    ...(toolset.definitions === undefined ? {} : { definitions: toolset.definitions }),
    open: (episode) => toolset.open(episode),
  };
  return { plugin: { ...rest, tools: { [id]: () => shared } }, toolset };
}
