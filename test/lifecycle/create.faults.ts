// Projects of create-mrlm whose creation is killed, and projects of other package managers. Needs the network for packages of others.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { packAll } from "../../benchmarks/lifecycle/tarballs.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { ROOT, run, userEnvironment } from "./support/program.ts";

const folder = temporaryDirectory();
const tarballs = join(folder, "tarballs");
const BIN = join(ROOT, "core/create/bin/create-mrlm.js");

beforeAll(() => packAll(tarballs), 600_000);

function create(directory: string, name: string, agent?: string) {
  const env = { ...userEnvironment(), ...(agent !== undefined && { npm_config_user_agent: agent }) };
  const args = [BIN, "environment", name, "--from", tarballs];
  return spawn(process.execPath, args, { cwd: directory, env, stdio: "ignore" });
}

test("40 creations that are killed leave no part of a project, and the next one succeeds", async () => {
  const directory = join(folder, "killed");
  mkdirSync(directory);
  let killed = 0;
  for (const delayMs of fc.sample(fc.integer({ min: 20, max: 180 }), { numRuns: 40, seed: 1 })) {
    const name = `plugin-${killed++}`;
    const child = create(directory, name);
    const end = once(child, "exit");
    await sleep(delayMs);
    child.kill("SIGKILL");
    await end;
    const project = join(directory, name);
    // package.json and the last file that is written: complete, or not there at all.
    if (existsSync(project))
      expect(readdirSync(project)).toEqual(
        expect.arrayContaining(["LICENSE", "README.md", "mrlm.yaml", "package.json", "src", "test"]),
      );
    await once(create(directory, name), "exit");
    expect(JSON.parse(readFileSync(join(project, "package.json"), "utf8"))).toMatchObject({ name });
  }
  expect(readdirSync(directory).filter((name) => name.startsWith("."))).toEqual([]);
}, 300_000);

test.each([
  ["npm", "npm/11.0.0", ["npm"]],
  ["pnpm", "pnpm/10.0.0", ["npx", "--yes", "pnpm@10"]],
  ["yarn", "yarn/1.22.22", ["npx", "--yes", "yarn@1"]],
] as const)(
  "a project of %s installs, compiles, lints, passes its tests and its check",
  async (manager, agent, [program, ...args]) => {
    const directory = join(folder, manager);
    mkdirSync(directory);
    await once(create(directory, "chess", agent), "exit");
    const project = join(directory, "chess");
    for (const command of ["install", "test", "lint", "check"])
      await run(
        program,
        [...args, ...(command === "install" ? [command] : ["run", command])],
        project,
        userEnvironment(),
      );
  },
  600_000,
);
