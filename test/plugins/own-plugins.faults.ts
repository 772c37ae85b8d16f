import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { ROOT, run } from "../e2e/support/mrlm.ts";

/** Folders of this repository that hold plugins. */
const FOLDERS = ["algorithms", "environments", "examples", "plugins"];

/** Bridges play on a server, and their fixtures are those of its environment: their own tests make all checks of an environment. */
const BRIDGES = ["environments/openenv", "environments/ors"];

const plugins = FOLDERS.flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`)).filter(
  isPlugin,
);

function isPlugin(folder: string): boolean {
  try {
    return "mrlm" in (JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) as object);
  } catch {
    return false;
  }
}

test.each(plugins)(
  "mrlm check reports no error and no open warning of %s",
  async (plugin) => {
    const only = BRIDGES.includes(plugin) ? ["--only", "package"] : [];
    const { code, events } = await run(["check", plugin, "--json", ...only]);
    expect(events.filter(({ event, acknowledged }) => event === "finding" && acknowledged === undefined)).toEqual([]);
    expect(code).toBe(0);
  },
  600_000,
);
