import { definePlugin } from "@mrlm/kit";
import { LocalHost, PluginHost } from "@mrlm/runtime";
import type { EnvironmentDefinition } from "@mrlm/spec";
import type { EnvironmentHost, EnvironmentRef } from "@mrlm/spec/host";
import { lettersEnvironment } from "@mrlm/testing";

/** Opens an environment in this process; by default the letters environment. */
export async function localEnvironment(
  environment: EnvironmentDefinition = lettersEnvironment(),
): Promise<{ readonly host: EnvironmentHost; readonly environment: EnvironmentRef }> {
  const host = new LocalHost({
    source: await PluginHost.of([definePlugin({ name: "test", environments: [environment] })]),
  });
  return { host, environment: { id: environment.id } };
}
