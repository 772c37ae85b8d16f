import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { addPlugin, listPlugins, removePlugin, searchPlugins } from "../src/commands/plugins.ts";
import { createConsole } from "../src/console/console.ts";

const folder = mkdtempSync(join(tmpdir(), "mrlm-registry-"));
const project = join(folder, "project");
const requests: string[] = [];
let server: Server;

/** Packs a plugin, and returns its manifest as a registry has it. */
function published(name: string, fields: object): object {
  const source = join(folder, "source", name);
  mkdirSync(source, { recursive: true });
  const json = {
    name,
    version: "1.2.0",
    type: "module",
    keywords: ["mrlm-plugin"],
    description: `The plugin ${name}`,
    ...fields,
  };
  writeFileSync(join(source, "package.json"), JSON.stringify(json));
  writeFileSync(
    join(source, "index.js"),
    "export default { apiVersion: 1, name: 'x', scorers: { 'chess@1': () => ({}) } };",
  );
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], {
    cwd: source,
    stdio: "ignore",
  });
  const tarball = readFileSync(join(folder, `${name}-1.2.0.tgz`));
  const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
  return { ...json, dist: { integrity, tarball: `${registry()}/${name}-1.2.0.tgz` } };
}

const registry = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
interface Packument {
  readonly name: string;
  readonly "dist-tags": object;
  readonly versions: Readonly<Record<string, object>>;
  readonly time: Readonly<Record<string, string>>;
}

const packuments = new Map<string, Packument>();

beforeAll(async () => {
  server = createServer((request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    requests.push(decodeURIComponent(request.url ?? ""));
    const name = decodeURIComponent(path.slice(1));
    if (path === "/-/v1/search") {
      const objects = [...packuments.values()].map((packument) => ({
        package: { ...packument.versions["1.2.0"], maintainers: [], links: {}, date: packument.time["1.2.0"] },
      }));
      response.end(JSON.stringify({ objects, total: objects.length, time: "" }));
    } else if (path.endsWith(".tgz")) response.end(readFileSync(join(folder, name)));
    else if (packuments.has(name)) response.end(JSON.stringify(packuments.get(name)));
    else response.writeHead(404).end("{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const mrlm = { apiVersion: 1, entry: "./index.js", provides: ["scorer:chess@1"], requires: ["sandbox:python"] };
  const plugins: Record<string, object> = {
    "mrlm-chess": { mrlm, scripts: { postinstall: "node -e \"require('fs').writeFileSync('ran', '')\"" } },
    // One letter less than @mrlm/ppo.
    "@mrlm/pp": { mrlm },
    plain: {},
    future: { mrlm: { ...mrlm, apiVersion: 7 } },
  };
  for (const [name, fields] of Object.entries(plugins)) {
    const manifest = name.startsWith("@")
      ? { name, version: "1.2.0", ...fields, dist: { tarball: "" } }
      : published(name, fields);
    const time = { created: "2026-01-02T00:00:00.000Z", "1.2.0": "2026-03-04T00:00:00.000Z" };
    packuments.set(name, { name, "dist-tags": { latest: "1.2.0" }, versions: { "1.2.0": manifest }, time });
  }
  mkdirSync(project);
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: "project", version: "1.0.0", optionalDependencies: { absent: "*" } }),
  );
  writeFileSync(join(project, ".npmrc"), `registry=${registry()}\naudit=false\nfund=false\nupdate-notifier=false\n`);
}, 60_000);
afterAll(() => {
  server.close();
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
  expect(requests.at(-1)).toMatch(/search\?text=keywords:mrlm-plugin[+ ]board[+ ]games/);
}, 60_000);

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
}, 60_000);

test("list names what was skipped, and remove takes a plugin out", async () => {
  const list = (why: boolean) => printed((context) => listPlugins(context, { why }));
  expect(await list(false)).toMatch(/mrlm-chess +1\.2\.0 +scorer:chess@1\nskipped absent: it is not installed/);
  expect(await list(true)).toMatch(/path +\S*node_modules\/mrlm-chess\n[^]*missing +sandbox:python[^]*skipped absent/);
  await printed((context) => removePlugin(context, "mrlm-chess"));
  expect(await list(false)).not.toContain("mrlm-chess");
  await expect(printed((context) => removePlugin(context, "mrlm-chess"))).rejects.toMatchObject({
    code: "PLUGIN_NOT_FOUND",
  });
}, 120_000);
