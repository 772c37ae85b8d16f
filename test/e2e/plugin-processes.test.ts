import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { Mrlm } from "./support/mrlm.ts";
import { gone, processTree } from "./support/process-tree.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";

const folder = temporaryDirectory();

/** The import starts a process in a group of its own, and blocks. */
const ENTRY = `import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore", detached: true });
writeFileSync(new URL("blocks", import.meta.url), "");
for (;;);
`;

function blockingPlugin(name: string): string {
  const plugin = join(folder, name);
  mkdirSync(plugin);
  writeFileSync(join(plugin, "index.js"), ENTRY);
  const mrlm = { apiVersion: 1, entry: "./index.js", provides: ["environment:blocking@1"] };
  writeFileSync(
    join(plugin, "package.json"),
    JSON.stringify({ name, version: "1.0.0", type: "module", keywords: ["mrlm-plugin"], mrlm }),
  );
  return plugin;
}

test.each([
  ["SIGINT", ["info"]],
  ["SIGTERM", ["plugins", "list", "--why"]],
  ["SIGHUP", ["check"]],
  ["SIGKILL", ["check"]],
  ["SIGKILL", ["info"]],
] as const)(
  "%s of mrlm %j ends the plugin that blocks, what it started, and its temporary files",
  async (signal, args) => {
    const plugin = blockingPlugin(`${signal.toLowerCase()}-${args[0]}`);
    const temporary = join(plugin, "temporary");
    mkdirSync(temporary);
    const mrlm = new Mrlm(args, { TMPDIR: temporary }, undefined, ["env", "-C", plugin]);
    while (!existsSync(join(plugin, "blocks"))) await sleep(20);
    const tree = processTree(mrlm.child.pid as number);
    // The command, its guardian, its worker and the process of the plugin.
    expect(tree).toHaveLength(4);
    expect(readdirSync(temporary)).toHaveLength(1);
    mrlm.child.kill(signal);
    expect((await mrlm.finished).signal).toBe(signal);
    await gone(tree);
    expect(readdirSync(temporary)).toEqual([]);
  },
  60_000,
);
