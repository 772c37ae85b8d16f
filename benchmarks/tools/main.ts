// npm run bench -- tools [--json] [--seconds N] [--only local|mcp|concurrent|ssrf|traversal]: calls of tools per second in process and through MCP, the memory of 1,000 episodes, and attempts
// to leave the confinement of the web and file tools.
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { loadedMachine, printFigures } from "../figures.ts";
import { ssrfFigures, traversalFigures } from "./attempts.ts";
import { localFigures } from "./local.ts";
import { mcpFigures } from "./mcp.ts";
import { concurrentFigures } from "./run-concurrent.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    seconds: { type: "string", default: "4" },
    only: { type: "string" },
  },
});

const seconds = Number(values.seconds);
const parts: Readonly<Record<string, () => Promise<Record<string, number>>>> = {
  local: () => localFigures(seconds),
  mcp: () => mcpFigures(seconds),
  concurrent: concurrentFigures,
  ssrf: ssrfFigures,
  traversal: traversalFigures,
};
if (values.only !== undefined && parts[values.only] === undefined)
  throw new Error(`--only takes ${Object.keys(parts).join(", ")}, not ${values.only}.`);

const load = loadavg()[0] as number;
const figures: Record<string, number> = {};
for (const [name, measure] of Object.entries(parts))
  if (values.only === undefined || values.only === name) Object.assign(figures, await measure());

if (!values.json) console.table(figures);
printFigures("tools", loadedMachine(load), figures);
