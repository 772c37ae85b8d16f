// npm run bench -- lifecycle [--json] [--only create|install|start|broken|blocks]: seconds from the creation of a plugin to a passing check, what @mrlm/testing installs, start-up times,
// the defects that `mrlm check` finds in broken plugins, and the code blocks of the documentation that tests read.
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { loadedMachine, printFigures } from "../figures.ts";
import { blockFigures } from "./blocks.ts";
import { brokenFigures } from "./broken.ts";
import { createFigures, installFigures, startFigures } from "./projects.ts";
import { packAll } from "./tarballs.ts";

const { values } = parseArgs({ options: { json: { type: "boolean", default: false }, only: { type: "string" } } });

const parts = {
  create: createFigures,
  install: installFigures,
  start: startFigures,
  broken: brokenFigures,
  blocks: blockFigures,
} as const;
if (values.only !== undefined && !(values.only in parts))
  throw new Error(`--only takes ${Object.keys(parts).join(", ")}, not ${values.only}.`);

const load = loadavg()[0] as number;
const folder = mkdtempSync(join(tmpdir(), "mrlm-lifecycle-"));
const figures: Record<string, number> = {};
try {
  const tarballs = await packAll(join(folder, "packed"));
  for (const [name, measure] of Object.entries(parts))
    if (values.only === undefined || values.only === name) Object.assign(figures, await measure(tarballs, folder));
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

if (!values.json) console.table(figures);
printFigures("lifecycle", loadedMachine(load), figures);
