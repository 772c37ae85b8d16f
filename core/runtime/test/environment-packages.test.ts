import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { definePlugin } from "@mrlm/kit";
import {
  behaviourFile,
  behaviourOf,
  LocalHost,
  parseConfig,
  PluginHost,
  prepareRun,
  RunDirectory,
  trainRun,
} from "@mrlm/runtime";
import { openCheckpoint } from "../src/run/checkpoints.ts";
import type { EnvironmentPackage } from "@mrlm/spec/host";
import { BigramEngine } from "@mrlm/testing";
import { reinforce } from "./support/reinforce.ts";
import { CONFIG, letters, removeTemporaryDirectories, temporaryDirectory } from "./support/training.ts";

afterAll(removeTemporaryDirectories);

/** Writes a plugin with one environment, `reverse@1`, and returns its description. */
async function describeInstalled(files: Readonly<Record<string, string>>) {
  const directory = join(temporaryDirectory(), "plugin");
  mkdirSync(directory);
  const mrlm = { apiVersion: 1, entry: "./index.js", provides: ["environment:reverse@1"] };
  const environment = `{ id: "reverse@1", description: "", determinism: "full", create: () => ({ async reset() {}, async step() {} }) }`;
  const all = {
    "package.json": JSON.stringify({ name: "reverse", version: "1.2.3", type: "module", mrlm }),
    "index.js": `export default { apiVersion: 1, name: "reverse", environments: [${environment}] };`,
    ...files,
  };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(directory, name), text);
  return new LocalHost({ source: await PluginHost.discover({ directory }) }).describe({ id: "reverse" });
}

test("the description of an environment names its package, and the hash of its recorded behaviour", async () => {
  expect((await describeInstalled({})).providedBy).toEqual({ name: "reverse", version: "1.2.3" });
  const behaviour = (text: string) =>
    behaviourFile.format({ "reverse@1": { fixtures: { right: behaviourOf([{ kind: "returned", text }]) } } });
  const described = async (text: string) =>
    (await describeInstalled({ "mrlm.behaviour.json": behaviour(text) })).providedBy?.behaviour;
  expect(await described("1")).toMatch(/^[0-9a-f]{64}$/);
  expect(await described("1")).toBe(await described("1"));
  expect(await described("1")).not.toBe(await described("2"));
});

test("a run records the packages of its environments, and a resumed run reports what has changed", async () => {
  const first = { name: "letters", version: "1.0.0", behaviour: "a" };
  const { run, notices: none } = await train(first);
  expect(none).toEqual([]);
  expect(run.readRecord()).toMatchObject({ environments: { [letters.id]: first } });
  expect((await train(first, run)).notices).toEqual([]);
  expect((await train({ name: "letters", version: "1.1.0", behaviour: "b" }, run)).notices).toEqual([
    `Environment ${letters.id} has changed since the run was last trained: it comes from letters 1.1.0, before from letters 1.0.0; its recorded behaviour is another one.`,
  ]);
  expect((await train({ name: "letters", version: "1.1.0" }, run)).notices).toEqual([
    `Environment ${letters.id} has changed since the run was last trained: its package no longer records its behaviour.`,
  ]);
});

test("a run notices and records a package that its server replaces meanwhile", async () => {
  const [first, second] = [
    { name: "letters", version: "1.0.0" },
    { name: "letters", version: "1.1.0" },
  ];
  const { run, notices } = await train(first, undefined, second);
  expect(notices).toEqual([
    `Environment ${letters.id} has changed during the run: it comes from letters 1.1.0, before from letters 1.0.0.`,
  ]);
  expect(run.readRecord()).toMatchObject({
    environments: { [letters.id]: second },
    environment_changes: [{ environment: letters.id, at: expect.any(String), from: first, to: second }],
  });
});

/** Trains with environments of a package, in a new run or from the last checkpoint of one, and returns the notices about environments. */
async function train(providedBy: EnvironmentPackage, resumed?: RunDirectory, replacement?: EnvironmentPackage) {
  const plugins = await PluginHost.of([
    definePlugin({ name: "test", environments: [letters], algorithms: [reinforce] }),
  ]);
  plugins.packageOf = () => providedBy;
  const host = new LocalHost({ source: plugins });
  const loaded = parseConfig(JSON.stringify({ ...CONFIG, output: temporaryDirectory() }), { path: "/tmp/run.yaml" });
  const prepared = await prepareRun(loaded, { host, algorithms: plugins });
  const run = resumed ?? RunDirectory.create(prepared.config, prepared.sourceText);
  const name = resumed?.checkpoints.names()[0];
  const checkpoint = name === undefined ? undefined : await openCheckpoint(join(run.path, "checkpoints", name));
  const describe = host.describe.bind(host);
  let present = providedBy;
  host.describe = async (environment) => ({ ...(await describe(environment)), providedBy: present });
  const notices: string[] = [];
  await trainRun({
    ...{ prepared, host, run, engine: new BigramEngine() },
    ...(checkpoint !== undefined && { checkpoint }),
    onEvent(event) {
      if (event.kind === "iteration") present = replacement ?? present;
      if (event.kind === "notice" && event.text.startsWith("Environment")) notices.push(event.text);
    },
  });
  return { run, notices };
}
