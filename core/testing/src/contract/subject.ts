import {
  type EnvironmentDefinition,
  type Fixture,
  type JsonObject,
  MrlmError,
  type Policy,
  type Task,
  type TaskSource,
} from "@mrlm/spec";
import type { EnvironmentDescription, EnvironmentHost, EnvironmentRef, ScriptedPlayer } from "@mrlm/spec/host";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import type { Transport } from "../transports.ts";
import type { AnyPlugin } from "../any-plugin.ts";
import { watch, type Watched } from "./watched-definition.ts";

/** Subject of a check: an environment over one transport. */
export interface Subject {
  /** Folder of the plugin's package; absent in tests, where others use this process and the working directory too. */
  readonly directory?: string;
  readonly host: EnvironmentHost;
  /** Plugins that provide the environment and its requirements. */
  readonly plugins: readonly AnyPlugin[];
  readonly definition: EnvironmentDefinition;
  readonly fixtures: readonly Fixture[];
  readonly watched: Watched;
  ref(options?: JsonObject): EnvironmentRef;
  describe(options?: JsonObject): Promise<EnvironmentDescription>;
  /** Returns the task source under these options; `undefined` if the environment has none. */
  tasks(options?: JsonObject): Promise<TaskSource | undefined>;
  task(id: string, options?: JsonObject): Promise<Task>;
  /** Creates a scripted policy of the environment, which acts in this process. */
  scripted(player: ScriptedPlayer, options?: JsonObject): Promise<Policy>;
  close(): Promise<void>;
}

/** Adds a hint about `plugins` of the contract, because installed packages are not searched here. Ignores other errors: the tests report them. */
function hintAtMissingPlugin(error: unknown): void {
  if (!MrlmError.hasCode(error, "REQUIREMENT_MISSING")) return;
  throw new MrlmError(error.code, error.message, {
    hint: "Give the contract the plugin that provides it as well: `environmentContract({ plugins: [plugin, provider], ... })`.",
    cause: error,
  });
}

/** Creates the subject of a check. */
export async function makeSubject(
  plugins: readonly AnyPlugin[],
  id: string,
  transport: Transport,
  defaults: JsonObject | undefined,
): Promise<Subject> {
  const original = findDefinition(plugins, id);
  const watched = watch(original);
  const replaced = plugins.map((plugin) => ({
    ...plugin,
    ...(plugin.environments && {
      environments: plugin.environments.map((other) => (other === original ? watched.definition : other)),
    }),
  }));
  const local = new LocalHost({ source: await PluginHost.of(replaced) });
  const opening = async (): Promise<EnvironmentHost> => {
    await local.describe({ id: original.id, ...(defaults && { options: defaults }) }).catch(hintAtMissingPlugin);
    return transport(local);
  };
  const host = await opening().catch(async (error: unknown) => {
    await local.close();
    throw error;
  });
  const sources = new Map<string, TaskSource | undefined>();
  const ref = (options?: JsonObject): EnvironmentRef => {
    const merged = { ...defaults, ...options };
    return Object.keys(merged).length === 0 ? { id: original.id } : { id: original.id, options: merged };
  };
  const tasks = async (options?: JsonObject): Promise<TaskSource | undefined> => {
    const key = JSON.stringify(ref(options));
    if (!sources.has(key)) {
      await local.describe(ref(options));
      const given = ref(options).options ?? {};
      const parsed = original.options === undefined ? {} : await original.options["~standard"].validate(given);
      sources.set(key, watched.tasks("value" in parsed ? parsed.value : {}));
    }
    return sources.get(key);
  };
  return {
    host,
    plugins,
    definition: original,
    fixtures: original.fixtures ?? [],
    watched,
    ref,
    describe: (options) => host.describe(ref(options)),
    tasks,
    async task(taskId, options) {
      const [split = "", index] = taskId.split("/");
      const task = await (await tasks(options))?.get(split, Number(index));
      return task ?? { id: taskId, public: {}, private: {} };
    },
    scripted: (player, options) => local.scripted(ref(options), player),
    async close() {
      await host.close();
      await local.close();
    },
  };
}

/** Finds the definition of an environment by its id or name. */
export function findDefinition(plugins: readonly AnyPlugin[], id: string): EnvironmentDefinition {
  const all = plugins.flatMap((plugin) => plugin.environments ?? []);
  const found = all.find((definition) => definition.id === id || definition.id.startsWith(`${id}@`));
  if (found === undefined)
    throw new MrlmError(
      "ENVIRONMENT_NOT_FOUND",
      `The plugins offer ${all.map((definition) => definition.id).join(", ") || "no environment"}, not "${id}".`,
    );
  return found;
}
