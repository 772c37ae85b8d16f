import { expect, test } from "@jest/globals";
import { definePlugin } from "@mrlm/kit";
import { parseConfig, PluginHost } from "@mrlm/runtime";
import { lettersEnvironment } from "@mrlm/testing";
import { openDescribed } from "../src/services/environments.ts";

/** Opens the environments of a run whose server is gone. */
async function opened(environment: string) {
  const plugins = await PluginHost.of([definePlugin({ name: "test", environments: [lettersEnvironment()] })]);
  const { config } = parseConfig(
    JSON.stringify({
      model: { path: "/m" },
      environments: [{ id: environment }],
      stages: [{ algorithm: "sft", steps: 1 }],
      server: { address: "127.0.0.1:1", reconnect_seconds: 0.1 },
    }),
    { path: "/x/run.yaml" },
  );
  const about = { configPath: "/x/run.yaml", overrides: [], directory: "/x", notice: () => undefined, json: false };
  return openDescribed({ config, plugins, ...about });
}

test("a run is described without its environment server where the packages are installed", async () => {
  const { host, stop } = await opened("letters");
  try {
    expect((await host.describe({ id: "letters" })).splits["train"]).toBeGreaterThan(0);
    expect(await host.demonstrate({ id: "letters" }, ["train/0"])).toHaveLength(1);
  } finally {
    await stop();
  }
});

test("a run whose packages are not installed needs its environment server", async () => {
  await expect(opened("elsewhere")).rejects.toMatchObject({ code: "SERVER_UNAVAILABLE" });
});
