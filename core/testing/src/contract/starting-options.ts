import type { EnvironmentDefinition, JsonObject } from "@mrlm/spec";

/** Returns options under which an environment without usable defaults can be opened: those of its first fixture with options. `undefined`: its defaults. */
export async function startingOptions({
  options,
  fixtures = [],
}: EnvironmentDefinition): Promise<JsonObject | undefined> {
  const result = await options?.["~standard"].validate({});
  return result?.issues === undefined ? undefined : fixtures.find((fixture) => fixture.options !== undefined)?.options;
}
