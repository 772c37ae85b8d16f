import {
  configuredPlugins,
  discoverPlugins,
  loadConfig,
  type LoadedConfig,
  PluginHost,
  PluginRegistry,
} from "@mrlm/runtime";
import { defined, type JsonObject, MrlmError } from "@mrlm/spec";
import type { EnvironmentHost, EnvironmentRef } from "@mrlm/spec/host";
import type { CommandContext } from "../command-context.ts";
import { table } from "../console/table.ts";
import type { InfoOptions } from "../declarations/info.ts";
import { openDescribed, unlessLost } from "../services/environments.ts";
import { inspectPlugins } from "../services/inspect-plugins.ts";
import { faultOf, type PluginFault } from "../services/plugin-fault.ts";
import { describeLayers } from "../services/sandboxes.ts";
import { VERSION } from "../version.ts";

/** Prints versions, plugins and what they provide, with a configuration the tasks of its environments, the state of the engine, the isolation layers of the sandboxes, and plugins that cannot be used. */
export async function info({ console, directory }: CommandContext, args: InfoOptions): Promise<void> {
  if (args.config === undefined && args.set !== undefined)
    throw new MrlmError("USAGE", "--set is for the keys of a configuration: give --config too.");
  const loaded = args.config === undefined ? undefined : loadConfig(args.config, { overrides: args.set ?? [] });
  const { plugins = {}, relativeTo = directory, locate } = loaded === undefined ? {} : configuredPlugins(loaded);
  const faults: [string, PluginFault][] = [];
  const entries = discoverPlugins(directory, plugins, relativeTo, locate, (error, name) =>
    faults.push([name, faultOf(error)]),
  );
  // Two plugins that provide the same id: no code of either runs.
  await PluginRegistry.of(entries.map((entry) => ({ ...entry, options: undefined })));
  const { engines, sandboxes, ...inspected } = await inspectPlugins({
    directory,
    details: true,
    ...(args.config !== undefined && { config: { path: args.config, set: args.set ?? [] } }),
  });
  for (const [name, found] of inspected.faults) for (const fault of found) faults.push([name, fault]);
  console.print(`mrlm ${VERSION}, Node ${process.versions.node}, ${process.platform} ${process.arch}\n`);
  if (entries.length === 0) console.note(`note: no plugins among the dependencies of a project around ${directory}`);
  console.print(
    table([
      ["plugin", "version", "provides"],
      ...entries.map((entry) => [entry.name, entry.version, entry.provides.join(", ")]),
    ]),
  );
  console.print("");
  const tasks: TaskCount[] = [];
  const unopened: [string, PluginFault][] = [];
  // A plugin with a fault may end the process that loads it.
  if (loaded !== undefined && faults.length === 0) {
    const { config: configPath = "", set: overrides = [] } = args;
    const notice = (line: string): void => console.note(`note: ${line}`);
    const found = await countTasks(loaded, { configPath, overrides, directory, json: console.json, notice });
    tasks.push(...found.counts);
    unopened.push(...found.faults);
    if (tasks.length > 0)
      console.print(
        `${table([
          ["environment", "split", "tasks", "different first prompts"],
          ...tasks.map(({ environment, split, tasks: size, different }) => [
            ...[environment, split, String(size)],
            different === undefined
              ? ""
              : `${different.prompts}${different.among < size ? ` of the first ${different.among}` : ""}`,
          ]),
        ])}\n`,
      );
  }
  for (const { id, installation } of engines) {
    const versions = Object.entries(installation?.versions ?? {}).map(([name, version]) => `${name} ${version}`);
    console.print(
      installation === undefined
        ? `engine ${id}: not set up (run \`mrlm engine setup\`)`
        : `engine ${id}: ${versions.join(", ")}\n  in ${installation.directory}`,
    );
  }
  for (const layers of sandboxes) console.print(describeLayers(layers));
  const named = [
    ...faults.map(([name, fault]) => [`plugin ${name}`, fault] as const),
    ...unopened.map(([id, fault]) => [`environment ${id}`, fault] as const),
  ];
  for (const [name, { code, message, hint }] of named)
    console.print(`${name}: ${code}: ${message}${hint === undefined ? "" : `\n  ${hint}`}`);
  console.emit({
    event: "info",
    mrlm: VERSION,
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    plugins: entries.map(({ name, version, provides }) => ({ name, version, provides: [...provides] })),
    tasks: JSON.parse(JSON.stringify(tasks)) as JsonObject[],
    faults: [
      ...faults.map(([plugin, fault]): JsonObject => ({ plugin, ...fault })),
      ...unopened.map(([environment, fault]): JsonObject => ({ environment, ...fault })),
    ],
    engines: engines.map(({ id, installation }): JsonObject => ({
      id,
      installed: installation !== undefined,
      ...(installation === undefined
        ? {}
        : { directory: installation.directory, versions: { ...installation.versions } }),
    })),
    sandboxes: sandboxes.map(({ active, missing, ...rest }): JsonObject => ({
      ...rest,
      active: [...active],
      missing: missing.map((layer) => ({ ...layer })),
    })),
  });
}

/** Most tasks of a split whose prompts are compared. */
const MOST = 1_000;

/** Tasks of an environment in one split. */
interface TaskCount {
  readonly environment: string;
  readonly split: string;
  readonly tasks: number;
  /** Number of different first prompts among the first so many tasks; of `eval` alone, whose tasks are to be independent. */
  readonly different?: { readonly prompts: number; readonly among: number };
}

/** Counts the tasks of the environments of a configuration, and in `eval` the different first prompts. An environment that cannot be opened is a fault. */
async function countTasks(
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
