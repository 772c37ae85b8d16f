import { expect, test } from "@jest/globals";
import { defineEnvironment, definePlugin, observe } from "@mrlm/kit";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import { z } from "zod";
import { namedEnvironment } from "../src/services/rollout-session.ts";

test("an environment that requires options has those of the configuration, or of the flag", async () => {
  const needy = defineEnvironment({
    id: "needy@1",
    description: "Requires an option.",
    determinism: "full",
    options: z.strictObject({ tasks: z.string() }),
    create: () => ({ reset: async () => observe([]), step: () => Promise.reject(new Error("No turn.")) }),
  });
  const host = new LocalHost({ source: await PluginHost.of([definePlugin({ name: "test", environments: [needy] })]) });
  const config = { eval: { environments: [] }, environments: [{ id: "needy", options: { tasks: "a" } }] };
  const refOf = async (name: string, options?: { readonly tasks: string }) =>
    (await namedEnvironment(host, config as never, name, options)).ref;
  expect(await refOf("needy")).toEqual({ id: "needy@1", options: { tasks: "a" } });
  expect(await refOf("needy@1", { tasks: "b" })).toEqual({ id: "needy@1", options: { tasks: "b" } });
  await expect(namedEnvironment(host, { ...config, environments: [] } as never, "needy", undefined)).rejects.toThrow(
    /tasks/,
  );
  await host.close();
});
