import { expect, test } from "@jest/globals";
import { fileURLToPath } from "node:url";
import type { EnvironmentDefinition } from "@mrlm/spec";
import { checkPlugin } from "../src/check-plugin/check-plugin.ts";
import type { AnyPlugin } from "../src/any-plugin.ts";

const FOLDER = new URL("../fixtures/broken/", import.meta.url);

/** Returns the findings of a quick check, with their texts. */
async function findingsOf(plugin: AnyPlugin): Promise<string[]> {
  const { name } = plugin;
  const directory = fileURLToPath(new URL("snapshot-no-json/", FOLDER));
  const packageJson = {
    ...{ name, version: "1.0.0", type: "module", keywords: ["mrlm-plugin"] },
    mrlm: { apiVersion: 1, entry: "./index.js", provides: ["environment:counting@1"] },
  };
  const findings: string[] = [];
  for await (const event of checkPlugin({ directory, packageJson, plugin, plugins: [plugin] }, { quick: true }))
    if (event.event === "finding") findings.push(`${event.finding.code}: ${event.finding.message}`);
  return findings;
}

const pluginOf = async (name: string): Promise<AnyPlugin> =>
  ((await import(new URL(`${name}/index.js`, FOLDER).href)) as { readonly default: AnyPlugin }).default;

test.each([
  ["snapshot-lacks-answer", 'from the snapshot after turn 1 on, and the result of turn 1 has `.*"value":0'],
  ["snapshot-changes-episode", 'with a snapshot after each turn, and the result of turn 2 has `.*"value":0'],
  ["snapshot-no-json", "its snapshot\\(\\) returned no JSON value"],
])("%s: its defect is found, and nothing else", async (name, text) => {
  const findings = await findingsOf(await pluginOf(name));
  expect(findings).toEqual([expect.stringMatching(new RegExp(`^SNAPSHOT_DIFFERS: .*${text}`))]);
});

test("an environment with right snapshots has no finding", async () => {
  const { counting } = (await import(new URL("../counting/index.js", FOLDER).href)) as {
    readonly counting: EnvironmentDefinition;
  };
  const { twice } = (await import(new URL("../counting/twice.js", FOLDER).href)) as {
    readonly twice: (inner: EnvironmentDefinition, snapshots: object) => EnvironmentDefinition;
  };
  const right = twice(counting, { snapshot: (state: object) => ({ ...state }), restore: Object.assign });
  const plugin = { apiVersion: 1, name: "right", environments: [right] } as AnyPlugin;
  expect(await findingsOf(plugin)).toEqual([]);
});
