import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { check } from "../src/commands/check.ts";
import { publish } from "../src/commands/publish.ts";
import { createConsole } from "../src/console/console.ts";
import { type NpmRegistry, npmrcOf, startRegistry } from "./support/npm-registry.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "mrlm-publish-test-"));
const plugin = join(folder, "plugin");
let registry: NpmRegistry;

const git = (...args: string[]): unknown =>
  execFileSync("git", ["-c", "user.email=a@b.c", "-c", "user.name=a", ...args], { cwd: plugin, stdio: "ignore" });
const commit = (): unknown => (git("add", "-A"), git("commit", "-q", "-m", "x"));
const edit = (file: string, change: (before: string) => string): void =>
  writeFileSync(join(plugin, file), change(readFileSync(join(plugin, file), "utf8")));
const setField = (changes: object): void =>
  edit("package.json", (before) => JSON.stringify({ ...(JSON.parse(before) as object), ...changes }, null, 2));

beforeAll(async () => {
  registry = await startRegistry();
  cpSync(join(ROOT, "core/testing/fixtures/counting"), plugin, { recursive: true });
  setField({
    ...{ private: undefined, license: "MIT", exports: "./index.js" },
    files: ["index.js", "mrlm.behaviour.json"],
  });
  writeFileSync(join(plugin, "README.md"), "# counting-environment\n");
  writeFileSync(join(plugin, "LICENSE"), "MIT\n");
  writeFileSync(join(plugin, ".gitignore"), "node_modules\n.npmrc\n");
  writeFileSync(join(plugin, ".npmrc"), npmrcOf(registry));
  symlinkSync(join(ROOT, "node_modules"), join(plugin, "node_modules"));
  git("init", "-q");
  await run(check, { update: true, quick: true, playGroups: 16 });
  commit();
}, 60_000);
afterAll(() => {
  registry.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command on the plugin. Returns its exit code, what it prints, and the codes of its problems. */
async function run<Args>(command: (context: never, target: string, args: Args) => Promise<number>, args: Args) {
  const stdout = new PassThrough();
  const output = text(stdout);
  const console = createConsole({ json: false, stdout, stderr: stdout });
  const code = await command({ console, directory: plugin } as never, ".", args).finally(() => stdout.end());
  const printed = await output;
  return { code, printed, problems: Array.from(printed.matchAll(/^problem (\w+)/gm), ([, name]) => name) };
}

test("a plugin is published with what was examined, and changed behaviour needs another number", async () => {
  const dry = await run(publish, { dryRun: true });
  expect([dry.code, dry.problems]).toEqual([0, []]);
  expect(dry.printed).toMatch(/index\.js +\d+\n[^]*files +\d+\n[^]*would be published with the tag latest/);
  expect(registry.requests.filter((request) => request.startsWith("PUT"))).toEqual([]);
  await expect(run(publish, {})).rejects.toMatchObject({ code: "USAGE", hint: expect.stringContaining("--yes") });
  expect((await run(publish, { yes: true })).code).toBe(0);
  expect(registry.requests).toContain("PUT /counting-environment");

  edit("index.js", (before) => before.replace("What follows", "Which number follows"));
  await run(check, { update: true, quick: true, playGroups: 16 });
  setField({ version: "1.0.1" });
  commit();
  const changed = await run(publish, { yes: true });
  expect([changed.code, new Set(changed.problems)]).toEqual([4, new Set(["BEHAVIOUR_CHANGED"])]);
  expect(changed.printed).toMatch(/Compared with counting-environment@1\.0\.0, .*counting@1.*line 1/);

  for (const file of ["index.js", "package.json"])
    edit(file, (before) => before.replaceAll("counting@1", "counting@2"));
  await run(check, { update: true, quick: true, playGroups: 16 });
  commit();
  expect(await run(publish, { yes: true })).toMatchObject({ code: 0, problems: [] });
}, 180_000);

test("every problem is reported together, before anything is sent", async () => {
  setField({ dependencies: { other: "file:../other" }, version: "1.0.1" });
  writeFileSync(join(plugin, ".env"), "TOKEN=1");
  setField({ files: ["index.js", ".env"] });
  const before = registry.requests.length;
  const { code, problems } = await run(publish, { yes: true });
  expect([code, problems]).toEqual([
    4,
    expect.arrayContaining([
      "DEPENDENCY_LINKED",
      "TREE_DIRTY",
      "VERSION_TAKEN",
      "FILE_FORBIDDEN",
      "BEHAVIOUR_UNRECORDED",
    ]),
  ]);
  registry.refuse(403);
  expect((await run(publish, { yes: true })).problems).toContain("REGISTRY_REFUSES");
  registry.refuse(undefined);
  setField({ version: "1.0.2-beta.1" });
  expect((await run(publish, { yes: true })).problems).toContain("TAG_MISSING");
  expect((await run(publish, { yes: true, tag: "next" })).problems).not.toContain("TAG_MISSING");
  expect(registry.requests.slice(before).filter((request) => request.startsWith("PUT"))).toEqual([]);
}, 180_000);
