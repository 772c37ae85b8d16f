import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { connectEnvironments } from "@mrlm/client";
import { COMMAND, Mrlm, ROOT, run } from "./support/mrlm.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { TINY, writeConfig } from "./support/tiny-run.ts";

const folder = temporaryDirectory();

/** Returns a folder with an environment: its entry's first line, and the body of `reset`. */
function environmentOf(name: string, first: string, reset = ""): string {
  const directory = join(folder, name);
  mkdirSync(directory);
  writeFileSync(
    join(directory, "package.json"),
    JSON.stringify({
      name,
      version: "1.0.0",
      type: "module",
      mrlm: { apiVersion: 1, entry: "./index.ts", provides: [`environment:${name}@1`] },
    }),
  );
  const environment = `{ id: "${name}@1", description: "", determinism: "full", create: () => ({ async reset() { ${reset} }, async step() {} }) }`;
  writeFileSync(
    join(directory, "index.ts"),
    `${first}\nexport default { apiVersion: 1, name: "${name}", environments: [${environment}] };\n`,
  );
  return directory;
}

test("npx that is killed takes its command along: npm's shell does not pass the signal on", async () => {
  const env = { ...process.env, NODE_OPTIONS: "", npm_lifecycle_event: "npx", npm_lifecycle_script: "'mrlm' serve" };
  const shell = spawn("sh", ["-c", `"${process.execPath}" "${COMMAND}" serve --environments math --port 0; true`], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env,
  });
  const output = text(shell.stderr);
  await once(shell.stdout, "data");
  const over = once(shell.stdout, "end");
  shell.kill("SIGTERM");
  await over;
  expect(await output).toContain("finishing the calls under way");
});

test("what an environment throws outside of its calls ends the command with an error that names it", async () => {
  const directory = environmentOf("stray", "", 'setTimeout(() => { throw new Error("no caller awaits this"); }, 1);');
  const config = writeConfig(folder, { ...TINY, plugins: { [directory]: true }, environments: [{ id: "stray" }] });
  const inServer = ["--workers", "0"];
  const server = new Mrlm([
    "serve",
    "--config",
    config,
    "--environments",
    "stray",
    "--port",
    "0",
    "--json",
    ...inServer,
  ]);
  const { address } = await server.event(({ event }) => event === "listening");
  const client = await connectEnvironments(address as string).catch(() => undefined);
  const asked = client
    ?.open({ id: "stray" })
    .then((session) => session.reset({ signal: new AbortController().signal }))
    .catch(() => undefined);
  const { code, stderr, events } = await server.finished;
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /error INTERNAL: Error: no caller awaits this\n.*index\.ts:2[^]*raised this error outside of every call/,
    ),
  ]);
  expect(events.at(-1)).toMatchObject({ event: "error", code: "INTERNAL", message: "no caller awaits this" });
  await Promise.race([asked, sleep(0)]);
  await client?.close();
});

test.each([
  ["a syntax error", "const x = ;", /\(\S+index\.ts:1\)\n {2}Correct the source at that place/],
  [
    "an enum",
    "enum A { B }",
    /enum is not supported in strip-only mode \(\S+index\.ts:1\)\n {2}Node runs TypeScript by leaving its types out/,
  ],
])("an entry with %s: what is wrong, where, and what helps", async (name, first, message) => {
  const plugin = environmentOf(name.replaceAll(" ", "-"), first);
  const { code, stderr } = await run([
    "train",
    "--config",
    writeConfig(folder, {
      ...TINY,
      server: {},
      plugins: { [plugin]: true },
      environments: [{ id: plugin.split("/").at(-1) }],
    }),
    "--dry-run",
  ]);
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});

test("U8: the fault of a plugin is the same error, with the same exit code, in a server of its own", async () => {
  const directory = environmentOf("unloadable", 'console.log("printed before"); throw new Error("it does not load");');
  const base = {
    ...TINY,
    plugins: { [directory]: {} },
    environments: [{ id: "unloadable" }],
    stages: TINY.stages.slice(1),
    engine: { address: "127.0.0.1:9" },
  };
  const runWith = async (spawn: boolean) => {
    // The message names the place in the configuration: both files have one name.
    const config = writeConfig(folder, { ...base, server: { spawn } }, "unloadable.yaml");
    return await run(["train", "--json", "--config", config]);
  };
  const inProcess = await runWith(false);
  const spawned = await runWith(true);
  const [expected, found] = [inProcess, spawned].map((finished) =>
    finished.events.find(({ event }) => event === "error"),
  );
  expect(found).toMatchObject({ code: "PLUGIN_LOAD_FAILED", message: expect.stringContaining("it does not load") });
  expect([spawned.code, found]).toEqual([2, expected]);
});
