import { expect, test } from "@jest/globals";
import { PluginHost } from "@mrlm/runtime";
import { selectedEnvironments } from "../src/services/selected-environments.ts";

test("a server offers bridges and code of files only where it names them, or belongs to a run", async () => {
  const plugins = await PluginHost.discover({ directory: process.cwd() });
  try {
    const offered = async (chosen: Parameters<typeof selectedEnvironments>[1]) =>
      (await selectedEnvironments(plugins, chosen)).environments();
    const byDefault = await selectedEnvironments(plugins, undefined);
    expect(byDefault.environments()).toEqual(
      plugins.environments().filter((id) => !/^(openenv|ors|python-env|cases)@/.test(id)),
    );
    await expect(byDefault.environment("openenv")).rejects.toMatchObject({
      code: "ENVIRONMENT_NOT_FOUND",
      message: expect.stringContaining("--environments names it"),
    });
    expect((await byDefault.environment("nim")).id).toBe("nim@1");
    expect(await offered("all")).toEqual(plugins.environments());
    expect(await offered(["ors", "nim"])).toEqual(["ors@2", "nim@1"]);
  } finally {
    await plugins.close();
  }
});
