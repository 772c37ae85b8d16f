import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";
import type { EnvironmentDefinition, Observation, Plugin } from "@mrlm/kit";
import { bareEnvironment, barePluginContext } from "@mrlm/testing";
import { IMAGE, missingEngine, startEngine } from "./support/engine.ts";

// By names in variables, because no plugin imports another.
const names: readonly string[] = ["@mrlm/environment-harbor", "@mrlm/tool-shell"];
const tasks = fileURLToPath(new URL("../../../examples/harbor/tasks", import.meta.url));
const { signal } = new AbortController();

(missingEngine === undefined ? test : test.skip)(
  `harbor@1 plays a task in containers: its solution earns 1, nothing earns 0 ${missingEngine ?? ""}`,
  async () => {
    const [harbor, shell] = (await Promise.all(
      names.map(async (name) => ((await import(name)) as { default: Plugin }).default),
    )) as [Plugin, Plugin];
    const engine = await startEngine();
    const linux = { workspaces: { linux: await engine.make() } };
    const options = await shell.options?.["~standard"].validate({});
    const toolset = await shell.tools?.["shell@1"]?.(
      barePluginContext(linux),
      options !== undefined && "value" in options ? options.value : undefined,
    );
    const services = { ...linux, tools: { "shell@1": toolset as NonNullable<typeof toolset> } };
    const definition = harbor.environments?.[0] as EnvironmentDefinition;
    const play = async (name: string, policyName: string): Promise<unknown> => {
      const bare = await bareEnvironment(
        definition,
        { tasks: `${tasks}/${name}`, eval_share: 0, bases: { "debian:12": IMAGE } },
        services,
      );
      const environment = await definition.create(bare.context, bare.options);
      const policy = definition.scriptedPolicies?.[policyName]?.(bare.context, {}, 0);
      try {
        let observation: Observation = await environment.reset({ task: "train/0", signal });
        for (;;) {
          const action = await policy?.act(observation, { signal });
          const { agent } = observation;
          const message = action?.message ?? { role: "assistant" as const, parts: [] };
          const result = await environment.step({ agent, message, finishReason: "stop" }, { signal });
          if (result.terminated[agent] === true || result.truncated[agent] === true) return result.rewards[agent];
          observation = result.observation;
        }
      } finally {
        await environment.close?.();
      }
    };
    try {
      for (const name of ["top-words", "largest-files"]) {
        expect([name, await play(name, "oracle")]).toEqual([name, expect.objectContaining({ value: 1 })]);
        expect([name, await play(name, "nop")]).toEqual([name, expect.objectContaining({ value: 0 })]);
      }
    } finally {
      await linux.workspaces.linux.close();
      await engine.close();
    }
  },
  120_000,
);
