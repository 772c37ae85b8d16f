// npm run test:lifecycle: the life cycle of a plugin in a real registry. Needs the network for packages of others, and the engine for the training.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { describeWithEngine } from "../e2e/support/engine.ts";
import { temporaryDirectory } from "../e2e/support/temporary-directory.ts";
import { gymnasium } from "../migrating/gymnasium.ts";
import { mrlm as mrlmRows } from "../migrating/mrlm.ts";
import { openenv } from "../migrating/openenv.ts";
import { verifiers } from "../migrating/verifiers.ts";
import { attempt, type Ended, ROOT, run, userEnvironment } from "./support/program.ts";
import { Registry } from "./support/registry.ts";

const folder = temporaryDirectory();
const plugin = join(folder, "author", "mrlm-shift");
const project = join(folder, "user");
let registry: Registry;

beforeAll(async () => {
  await run("npm", ["run", "build"], ROOT, userEnvironment());
  registry = await Registry.start(join(folder, "registry"));
  await npm(ROOT, "publish", "--workspaces");
}, 600_000);
afterAll(() => registry?.stop());

test("create, install, build, test, lint and check a plugin in an empty folder", async () => {
  mkdirSync(join(folder, "author"));
  await npm(join(folder, "author"), "create", "--yes", "mrlm@latest", "environment", "mrlm-shift");
  await npm(plugin, "install");
  for (const script of ["build", "test", "lint", "check"]) await npm(plugin, "run", script);
  await npm(plugin, "run", "check", "--", "--update");
  await run("git", ["init", "--quiet"], plugin, registry.env);
  await commit("First version");
}, 600_000);

test("publish it: first without sending anything", async () => {
  expect(await mrlm(plugin, "publish", "--dry-run")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("dist/index.js"),
  });
  expect(await versions()).toEqual([]);
  expect(await mrlm(plugin, "publish", "--yes")).toMatchObject({ code: 0 });
  expect(await versions()).toEqual(["0.1.0"]);
}, 600_000);

test("a second version with other behaviour under the same id is rejected; with a raised number it is accepted", async () => {
  const source = join(plugin, "src/index.ts");
  const original = readFileSync(source, "utf8");
  edit(source, (code) => code.replaceAll("0.5", "0.25"));
  edit(join(plugin, "test/environment.test.ts"), (code) => code.replaceAll("0.5", "0.25"));
  expect(readFileSync(source, "utf8")).not.toBe(original);
  raiseVersion("0.2.0");
  await npm(plugin, "run", "build");
  await npm(plugin, "run", "check", "--", "--update");
  await commit("Pay less for a second attempt");
  const rejected = await mrlm(plugin, "publish", "--yes");
  expect(rejected).toMatchObject({ code: 4, stdout: expect.stringMatching(/shift@1/) });
  expect(await versions()).toEqual(["0.1.0"]);
  for (const file of ["src/index.ts", "package.json", "mrlm.yaml", "test/environment.test.ts"])
    edit(join(plugin, file), (text) => text.replaceAll("shift@1", "shift@2"));
  await npm(plugin, "run", "build");
  await npm(plugin, "run", "check", "--", "--update");
  await commit("Raise the number of the environment");
  expect(await mrlm(plugin, "publish", "--yes")).toMatchObject({ code: 0 });
  expect(await versions()).toEqual(["0.1.0", "0.2.0"]);
}, 600_000);

test("find it and install it in another project", async () => {
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }));
  await npm(project, "install", "@mrlm/cli", "@mrlm/engine-torch", "@mrlm/sft", "@mrlm/grpo");
  expect((await mrlm(project, "plugins", "search")).stdout).toContain("mrlm-shift");
  expect(await mrlm(project, "plugins", "add", "mrlm-shift", "--yes")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("environment:shift@2"),
  });
  expect((await mrlm(project, "plugins", "list", "--why")).stdout).toContain("mrlm-shift 0.2.0");
}, 600_000);

describeWithEngine("with the engine", () => {
  test("serve it, and train on it over gRPC", async () => {
    const server = spawn(
      command(project),
      ["serve", "--environments", "shift", "--port", "0", "--demonstrations", "--json"],
      {
        cwd: project,
        env: registry.env,
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    try {
      const config = readFileSync(join(plugin, "mrlm.yaml"), "utf8").replace(
        "{ spawn: true }",
        `{ address: "${await addressOf(server)}" }`,
      );
      writeFileSync(
        join(project, "mrlm.yaml"),
        config.replace("steps: 60", "steps: 3").replace("steps: 120", "steps: 2"),
      );
      const trained = await mrlm(project, "train", "--config", "mrlm.yaml", "--json");
      expect(trained).toMatchObject({ code: 0 });
      const events = trained.stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, string>);
      expect(events.filter(({ event }) => event === "iteration").map(({ name }) => name)).toEqual([
        ...["sft", "sft", "sft", "grpo", "grpo"],
      ]);
      // The server states the package, and the run records it.
      const record = JSON.parse(readFileSync(join(events.at(-1)?.["directory"] as string, "run.json"), "utf8"));
      expect(record.environments).toEqual({
        "shift@2": { name: "mrlm-shift", version: "0.2.0", behaviour: expect.stringMatching(/^[0-9a-f]{64}$/) },
      });
    } finally {
      server.kill();
    }
  }, 600_000);

  test("the commands that the tables for authors of other libraries state were among those that this suite ran", () => {
    const commands = [gymnasium, mrlmRows, openenv, verifiers]
      .flatMap((rows) => Object.values(rows))
      .filter((program) => typeof program === "string")
      // Words in capitals stand for a name or a file.
      .map((text) => text.replaceAll(/ [A-Z]+$/g, ""));
    expect(commands.filter((text) => !executed.some((line) => `${line} `.startsWith(`${text} `)))).toEqual([]);
    expect(commands.length).toBeGreaterThan(0);
  });
});

const npm = (directory: string, ...args: string[]): Promise<string> => run("npm", args, directory, registry.env);
const command = (directory: string): string => join(directory, "node_modules/.bin/mrlm");
/** Commands that were run, without the name of the program. */
const executed: string[] = [];
const mrlm = (directory: string, ...args: string[]): Promise<Ended> => {
  executed.push(args.join(" "));
  return attempt(command(directory), args, directory, registry.env);
};

async function versions(): Promise<readonly string[]> {
  const response = await fetch(`${registry.address}/mrlm-shift`);
  return response.ok ? Object.keys(((await response.json()) as { versions: object }).versions) : [];
}

async function commit(subject: string): Promise<void> {
  await run("git", ["add", "--all"], plugin, registry.env);
  const identity = ["-c", "user.name=Author", "-c", "user.email=author@example.com"];
  await run("git", [...identity, "commit", "--quiet", "--message", subject], plugin, registry.env);
}

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, "utf8")));
}

function raiseVersion(version: string): void {
  edit(join(plugin, "package.json"), (text) => text.replace(/"version": "[^"]+"/, `"version": "${version}"`));
}

async function addressOf(server: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: server.stdout as NodeJS.ReadableStream })) {
    const { event, address } = JSON.parse(line) as { event: string; address: string };
    if (event === "listening") return address;
  }
  throw new Error("The server ended before it listened.");
}
