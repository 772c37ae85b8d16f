import { defined } from "@mrlm/spec";
import { configuredPlugins, type LoadedConfig, PluginHost } from "@mrlm/runtime";
import type { EnvironmentHost, EnvironmentRef } from "@mrlm/spec/host";
import { openDescribed, unlessLost } from "./environments.ts";
import { faultOf, type PluginFault } from "./plugin-fault.ts";

/** Most tasks of a split whose prompts are compared. */
const MOST = 1_000;

/** Tasks of an environment in one split. */
export interface TaskCount {
  readonly environment: string;
  readonly split: string;
  readonly tasks: number;
  /** Number of different first prompts among the first so many tasks; of `eval` alone, whose tasks are to be independent. */
  readonly different?: { readonly prompts: number; readonly among: number };
}

/** Counts the tasks of the environments of a configuration, and in `eval` the different first prompts. An environment that cannot be opened is a fault. */
export async function countTasks(
  loaded: LoadedConfig,
  about: Pick<Parameters<typeof openDescribed>[0], "configPath" | "overrides" | "directory" | "json" | "notice">,
): Promise<{ readonly counts: readonly TaskCount[]; readonly faults: readonly [string, PluginFault][] }> {
  const { config } = loaded;
  const counts: TaskCount[] = [];
  const faults: [string, PluginFault][] = [];
  const plugins = await PluginHost.discover({ directory: about.directory, ...configuredPlugins(loaded) });
  try {
    const environments = await openDescribed({ config, plugins, ...about });
    try {
      for (const { id, options } of config.environments) {
        const ref = { id, ...defined({ options }) };
        try {
          counts.push(...(await unlessLost(environments.lost, countsOf(environments.host, ref))));
        } catch (error) {
          faults.push([id, faultOf(error)]);
        }
      }
    } finally {
      await environments.stop();
    }
  } finally {
    await plugins.close();
  }
  return { counts, faults };
}

async function countsOf(host: EnvironmentHost, ref: EnvironmentRef): Promise<TaskCount[]> {
  const { id, splits } = await host.describe(ref);
  const among = Math.min(splits["eval"] ?? 0, MOST);
  const prompts = new Set<string>();
  const session = await host.open(ref);
  const { signal } = new AbortController();
  try {
    for (let i = 0; i < among; i++) {
      const { messages, tools } = await session.reset({ task: `eval/${i}`, signal });
      prompts.add(JSON.stringify([messages, tools]));
    }
  } finally {
    await session.close();
  }
  return Object.entries(splits).map(([split, tasks]) => ({
    ...{ environment: id, split, tasks },
    ...(split === "eval" && { different: { prompts: prompts.size, among } }),
  }));
}
