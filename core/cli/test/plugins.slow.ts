import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { addPlugin, listPlugins, removePlugin, searchPlugins } from "../src/commands/plugins.ts";
import { createConsole } from "../src/console/console.ts";
import { type NpmRegistry, npmrcOf, startRegistry } from "./support/npm-registry.ts";

const folder = mkdtempSync(join(tmpdir(), "mrlm-registry-"));
const project = join(folder, "project");
let registry: NpmRegistry;

/** Packs a plugin, and adds it to the registry. */
function publishPlugin(name: string, fields: object): void {
  const source = join(folder, "source", name);
  mkdirSync(source, { recursive: true });
  const version = { version: "1.2.0", type: "module", keywords: ["mrlm-plugin"] };
  const json = { name, ...version, description: `The plugin ${name}`, ...fields };
  writeFileSync(join(source, "package.json"), JSON.stringify(json));
  writeFileSync(
    join(source, "index.js"),
    "export default { apiVersion: 1, name: 'x', scorers: { 'chess@1': () => ({}) } };",
  );
  const flags = ["--silent", "--ignore-scripts", "--pack-destination", folder];
  execFileSync("npm", ["pack", ...flags], { cwd: source, stdio: "ignore" });
  const archive = `${name.replace("@", "").replace("/", "-")}-1.2.0.tgz`;
  registry.add(json, readFileSync(join(folder, archive)));
}

beforeAll(async () => {
  registry = await startRegistry();
  const mrlm = { apiVersion: 1, entry: "./index.js", provides: ["scorer:chess@1"], requires: ["sandbox:python"] };
  const writes = "node -e \"require('fs').writeFileSync('ran', '')\"";
  publishPlugin("mrlm-chess", { mrlm, scripts: { postinstall: writes } });
  // One letter less than @mrlm/ppo.
  publishPlugin("@mrlm/pp", { mrlm });
  publishPlugin("plain", {});
  publishPlugin("future", { mrlm: { ...mrlm, apiVersion: 7 } });
  mkdirSync(project);
  const json = { name: "project", version: "1.0.0", optionalDependencies: { absent: "*" } };
  writeFileSync(join(project, "package.json"), JSON.stringify(json));
  writeFileSync(join(project, ".npmrc"), npmrcOf(registry));
});
afterAll(() => {
  registry.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command, and returns what it prints for people, or its error. */
async function printed(run: (context: Parameters<typeof searchPlugins>[0]) => Promise<void>): Promise<string> {
  const stdout = new PassThrough();
  const console = createConsole({ json: false, stdout, stderr: stdout });
  const output = text(stdout);
  await run({ console, directory: project }).finally(() => stdout.end());
  return output;
}

test("search asks the registry of the user's npm for the keyword and the words", async () => {
  const output = await printed((context) => searchPlugins(context, ["board", "games"]));
  expect(output).toMatch(/mrlm-chess +1\.2\.0/);
  expect(registry.requests.at(-1)).toMatch(/search\?text=keywords:mrlm-plugin[+ ]board[+ ]games/);
});

test("search compares the keyword itself where the registry searches names alone", async () => {
  const names = await startRegistry();
  const directory = join(folder, "names");
  mkdirSync(directory);
  writeFileSync(join(directory, ".npmrc"), npmrcOf(names));
  for (const [name, keywords] of [
    ["mrlm-go", ["mrlm-plugin"]],
    ["mrlm-notes", []],
  ] as const)
    names.add({ name, version: "2.0.0", keywords }, Buffer.of());
  names.searchNames();
  const output = await printed((context) => searchPlugins({ ...context, directory }, []));
  names.close();
  expect(output).toMatch(/mrlm-go +2\.0\.0/);
  expect(output).not.toContain("mrlm-notes");
});

test("add shows what a plugin provides and requires, asks, and runs no install script", async () => {
  const add = (name: string, args = {}) => printed((context) => addPlugin(context, name, args));
  await expect(add("mrlm-chess")).rejects.toMatchObject({ code: "USAGE", hint: expect.stringContaining("--yes") });
  expect(existsSync(join(project, "node_modules"))).toBe(false);
  const output = await add("mrlm-chess@^1.0.0", { yes: true });
  expect(output).toMatch(
    /provides +scorer:chess@1\n +requires +sandbox:python\n +missing +sandbox:python\. Install .*@mrlm\/sandbox-python/,
  );
  expect(output).toMatch(
    /published +2026-03-04; the first version 2026-01-02\n +provenance +none.*\n +scripts +postinstall: they do not run/,
  );
  expect(existsSync(join(project, "node_modules/mrlm-chess/index.js"))).toBe(true);
  expect(existsSync(join(project, "node_modules/mrlm-chess/ran"))).toBe(false);
  for (const spec of [
    "./source/mrlm-chess",
    "..",
    "~/a",
    "me/a",
    "file:a",
    "a@npm:b",
    "a@../b",
    "a.tgz",
    "git@b:c/a.git",
    "--x",
  ])
    await expect(add(spec, { yes: true })).rejects.toMatchObject({
      code: "USAGE",
      message: expect.stringContaining(spec),
    });
  await expect(add("plain", { yes: true })).rejects.toMatchObject({ code: "PLUGIN_INVALID" });
  await expect(add("future", { yes: true })).rejects.toMatchObject({ code: "PLUGIN_API_VERSION" });
  await expect(add("none", { yes: true })).rejects.toMatchObject({ code: "PLUGIN_NOT_FOUND" });
}, 120_000);

test("add warns of a name close to a known one", async () => {
  const stdout = new PassThrough();
  const output = text(stdout);
  const console = createConsole({ json: false, stdout, stderr: stdout });
  await expect(addPlugin({ console, directory: project }, "@mrlm/pp", {})).rejects.toMatchObject({ code: "USAGE" });
  stdout.end();
  expect(await output).toMatch(/warning +its name is close to @mrlm\/ppo/);
});

test("list names what was skipped, and remove takes a plugin out", async () => {
  const list = (why: boolean) => printed((context) => listPlugins(context, why ? { why } : {}));
  expect(await list(false)).toMatch(/mrlm-chess +1\.2\.0 +scorer:chess@1\nskipped absent: it is not installed/);
  expect(await list(true)).toMatch(/path +\S*node_modules\/mrlm-chess\n[^]*missing +sandbox:python[^]*skipped absent/);
  const remove = (name: string) => printed((context) => removePlugin(context, name));
  await expect(remove("mrlm-ches")).rejects.toMatchObject({ message: expect.stringMatching(/mean "mrlm-chess"\?/) });
  await remove("mrlm-chess");
  expect(await list(false)).not.toContain("mrlm-chess");
  await expect(printed((context) => removePlugin(context, "mrlm-chess"))).rejects.toMatchObject({
    code: "PLUGIN_NOT_FOUND",
  });
  // The registry answers in this process.
  await promisify(execFile)("npm", ["install", "--silent", "--no-audit", "plain"], { cwd: project });
  await expect(printed((context) => removePlugin(context, "plain"))).rejects.toMatchObject({ code: "PLUGIN_INVALID" });
}, 120_000);
