import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "@jest/globals";
import { createProject, type Kind, KINDS, projectName } from "create-mrlm";
import { ROOT } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const directory = temporaryDirectory();
const kinds = Object.keys(KINDS).filter((kind) => existsSync(join(ROOT, "templates", kind, "_package.json"))) as Kind[];
const env = { ...process.env, NODE_OPTIONS: "" };
const tsc = join(ROOT, "node_modules/typescript/bin/tsc");

test("the guide of tools shows templates/tool as it stands", () => {
  const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
  const files = readdirSync(join(ROOT, "templates/tool"), { recursive: true, encoding: "utf8" });
  const source = files
    .filter((path) => path.endsWith(".ts"))
    .map((path) => read(`templates/tool/${path}`))
    .join("\n");
  const lines = new Set(source.split("\n").map((line) => line.trim()));
  const blocks = [...read("docs/build/writing-a-tool.md").matchAll(/```ts\n(.*?)```/gs)].map(
    ([, code]) => code as string,
  );
  expect(blocks).toHaveLength(4);
  for (const line of blocks.flatMap((code) => code.split("\n"))) expect(lines).toContain(line.trim());
});

// The declarations that an installed package would bring; the set-up of tests makes none.
beforeAll(() => void execFileSync(process.execPath, [tsc, "--build"], { cwd: ROOT, env }), 300_000);

test.concurrent.each(kinds)(
  "create %s: the project compiles, has no warning of the linter, and its tests pass",
  async (kind) => {
    const name = projectName(`@me/mrlm-chosen-${kind}`);
    const { folder } = await createProject({ kind, name, directory, manager: "npm", from: ROOT });
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    const run = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)(process.execPath, args, { cwd: folder, env })).stdout;
    await run(tsc);
    await run(join(ROOT, "node_modules/oxlint/bin/oxlint"), "--deny-warnings");
    expect(await run("--test", "test/*.test.ts")).toMatch(/^ℹ pass [1-9]\d*\nℹ fail 0$/m);
  },
  300_000,
);

/** Packs the packages, and installs them from their tarballs below a project; packages of others are linked. */
function installPacked(packed: string, project: string): void {
  const modules = join(project, "node_modules");
  mkdirSync(join(modules, "@mrlm"), { recursive: true });
  for (const name of readdirSync(join(ROOT, "node_modules")).filter((each) => !/^(\.|@mrlm$|create-mrlm$)/.test(each)))
    symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  for (const archive of readdirSync(packed)) {
    const [, name = ""] = /^(.*)-\d+\.\d+\.\d+\.tgz$/.exec(archive) ?? [];
    const id = name.replace(/^mrlm-/, "@mrlm/");
    const directory = join(modules, id);
    mkdirSync(directory);
    execFileSync("tar", ["xzf", join(packed, archive), "--strip-components=1", "-C", directory]);
    // Versions that differ from those at the root.
    const own = join(ROOT, "node_modules", id, "node_modules");
    if (existsSync(own)) symlinkSync(realpathSync(own), join(directory, "node_modules"));
  }
}

test("a project with the packed packages, without a registry: it compiles, and its tests and its check pass", async () => {
  const packed = join(directory, "packed");
  mkdirSync(packed);
  // Scripts of packing would copy the templates into the tree while other tests read it.
  const flags = ["--workspaces", "--ignore-scripts", "--silent", "--pack-destination", packed];
  await promisify(execFile)("npm", ["pack", ...flags], { cwd: ROOT, env });
  const name = projectName("mrlm-packed");
  const { folder } = await createProject({ kind: "environment", name, directory, manager: "npm", from: packed });
  installPacked(packed, folder);
  const run = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)(process.execPath, args, { cwd: folder, env })).stdout;
  await run(tsc);
  expect(await run("--test", "test/*.test.ts")).toMatch(/^ℹ pass [1-9]\d*\nℹ fail 0$/m);
  const command = join(folder, "node_modules/@mrlm/cli/bin/mrlm.js");
  expect(await run(command, "check", "--quick")).toMatch(/mrlm-packed 0\.1\.0: no findings/);
}, 300_000);
