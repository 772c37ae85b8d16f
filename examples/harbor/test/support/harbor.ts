import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  callMessage,
  type EnvironmentDefinition,
  type Message,
  type Observation,
  type Plugin,
  textMessage,
} from "@mrlm/kit";
import type { Workspaces } from "@mrlm/spec";
import { bareEnvironment, barePluginContext } from "@mrlm/testing";

// By names in variables, because no plugin imports another.
const names: readonly string[] = ["@mrlm/environment-harbor", "@mrlm/workspace-local", "@mrlm/tool-shell"];
const [harbor, local, shell] = (await Promise.all(
  names.map(async (name) => ((await import(name)) as { default: Plugin }).default),
)) as [Plugin, Plugin, Plugin];
const { signal } = new AbortController();

/** Folder of the tasks of this example. */
export const TASKS = fileURLToPath(new URL("../../tasks", import.meta.url));

/** Work of a policy on a task: its worked solution, nothing, or a script. */
export type Deed = "oracle" | "nop" | { readonly script: string };

/** Plays tasks by `harbor@1`, without a server and without a model. */
export interface HarborPlayer {
  /** Returns the reward of a task; NaN where the tests gave none. */
  play(folder: string, deed: Deed): Promise<number>;
  close(): Promise<void>;
}

/** Makes workspaces on this machine, or returns the reason why it has none. Builds are kept in a cache of its own. */
export async function makePlayer(): Promise<HarborPlayer | string> {
  const cache = mkdtempSync(join(tmpdir(), "mrlm-harbor-"));
  const before = process.env["MRLM_CACHE"];
  process.env["MRLM_CACHE"] = cache;
  let workspaces: Workspaces;
  try {
    workspaces = (await local.workspaces?.["linux"]?.(barePluginContext(), await parsed(local))) as Workspaces;
  } catch (error) {
    return (error as Error).message;
  }
  const linux = { workspaces: { linux: workspaces } };
  const toolset = await shell.tools?.["shell@1"]?.(barePluginContext(linux), await parsed(shell));
  const definition = harbor.environments?.[0] as EnvironmentDefinition;
  const services = { ...linux, tools: { "shell@1": toolset as NonNullable<typeof toolset> } };
  return {
    async play(folder, deed) {
      const options = { tasks: folder, eval_share: 0, bases: { "debian:12": "host" } };
      const bare = await bareEnvironment(definition, options, services);
      const environment = await definition.create(bare.context, bare.options);
      try {
        const policy =
          typeof deed === "string" ? definition.scriptedPolicies?.[deed]?.(bare.context, {}, 0) : undefined;
        let observation: Observation = await environment.reset({ task: "train/0", signal });
        for (let turn = 0; ; turn++) {
          const scripted = typeof deed === "string" ? undefined : messageOf(deed.script, turn);
          const action = await policy?.act(observation, { signal });
          const message = scripted ?? action?.message ?? textMessage("assistant", "");
          const { agent } = observation;
          const result = await environment.step({ agent, message, finishReason: "stop" }, { signal });
          if (result.terminated[agent] === true || result.truncated[agent] === true) {
            const reward = result.rewards[agent];
            return reward?.scored === true ? reward.value : Number.NaN;
          }
          observation = result.observation;
        }
      } finally {
        await environment.close?.();
      }
    },
    async close() {
      await workspaces.close();
      if (before === undefined) delete process.env["MRLM_CACHE"];
      else process.env["MRLM_CACHE"] = before;
      rmSync(cache, { recursive: true, force: true });
    },
  };
}

async function parsed({ options }: Plugin): Promise<unknown> {
  const result = await options?.["~standard"].validate({});
  return result !== undefined && "value" in result ? result.value : undefined;
}

function messageOf(script: string, turn: number): Message {
  if (turn > 0) return textMessage("assistant", "Done.");
  const text = Buffer.from(script).toString("base64");
  return callMessage("bash", { command: `base64 -d <<< ${text} > /tmp/deed.sh && bash /tmp/deed.sh` });
}

/** Returns the cheats of a task by their names. */
export function cheatsOf(folder: string): [name: string, script: string][] {
  const cheats = join(folder, "cheats");
  return readdirSync(cheats).map((name) => [name, readFileSync(join(cheats, name), "utf8")]);
}
