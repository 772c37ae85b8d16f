import { afterAll, describe, test } from "@jest/globals";
import type { Fixture } from "@mrlm/kit";
import { environmentContract, inProcess } from "@mrlm/testing";
import { fullReward, gold, random } from "../../src/fixtures.ts";
import { FAMILY_NAMES, GENERATORS } from "../../src/generators/index.ts";
import { tools } from "../../src/index.ts";
import { toolsPlugins } from "./plugins.ts";

/** Registers tests that play generated tasks of each family by scripted policies, with the tools of the plugins. */
export async function solveTests(count: number): Promise<void> {
  const { plugins, close } = await toolsPlugins();
  afterAll(close);
  const fixtures = FAMILY_NAMES.flatMap((family) =>
    Array.from({ length: count }, (_, i) => fixturesOf(family, i)).flat(),
  );
  environmentContract({
    plugins: [
      { ...plugins[0], environments: [{ ...tools, fixtures }] } as (typeof plugins)[number],
      ...plugins.slice(1),
    ],
    environment: "tools@2",
    transports: { "in process": inProcess },
    registry: {
      describe,
      test: (name, body, timeoutMs) => void (name.startsWith("fixture ") && test(name, body, timeoutMs)),
    },
  });
}

/** Returns the episodes of one task: the worked solution, calls at random, and nothing. */
function fixturesOf(family: (typeof FAMILY_NAMES)[number], index: number): Fixture[] {
  const common = { task: `train/${index}`, options: { families: [family], difficulty_range: [1, 10] } };
  return [
    {
      ...common,
      name: `${family} ${index}: solved`,
      kind: "gold",
      policy: gold,
      reward: fullReward(GENERATORS[family].turns),
    },
    { ...common, name: `${family} ${index}: random`, kind: "cheat", policy: random, reward: 0 },
    { ...common, name: `${family} ${index}: nothing`, kind: "nop", policy: () => "", reward: 0 },
  ];
}
