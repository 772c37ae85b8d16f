/**
 * npm run bench -- eval [--json] [--rounds N] [--tasks N] [--model DIRECTORY] [--only resume|python]: cost of an evaluation that can be resumed (keys, episode store, results from the store) over one that is
 * kept in memory: `resume_overhead` is the median over rounds of the ratio of their CPU seconds, engine and store included, less 1. Both play the same episodes of math, in turn, with
 * answers of at most 64 tokens; the model is SmolLM2-135M-Instruct, which is fetched and converted on the first run. `resume_seconds` is the time in which a finished one is read again.
 * `python_env_ratio` compares environments of Python processes with gymnasium's AsyncVectorEnv (python-environments.ts).
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { locateEngine } from "@mrlm/engine-torch";
import { printFigures, processor } from "../figures.ts";
import { treeCpuSeconds } from "../process-tree.ts";
import { modelDirectory } from "../real/fixture.ts";
import { median } from "../train/measurement.ts";
import { pythonEnvironmentFigures } from "./python-environments.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    rounds: { type: "string", default: "3" },
    tasks: { type: "string", default: "32" },
    model: { type: "string" },
    only: { type: "string" },
  },
});
const TOKENS = 64;
const of = (name: string): boolean => values.only === undefined || values.only === name;

const found = {
  ...(of("resume") && (await resumeFigures())),
  ...(of("python") && (await pythonEnvironmentFigures(Number(values.rounds)))),
};
const figures = Object.fromEntries(Object.entries(found).map(([name, value]) => [name, Number(value.toPrecision(3))]));
if (!values.json) console.table(Object.entries(figures).map(([figure, value]) => ({ figure, value })));
printFigures("eval", processor(), figures);

interface Cost {
  readonly cpu: number;
  readonly wall: number;
}

/** Measures evaluations with a store and without. */
async function resumeFigures(): Promise<Record<string, number>> {
  const engine = (await locateEngine())?.executable;
  if (engine === undefined) throw new Error("The engine is not set up: npm run setup.");
  const program = fileURLToPath(new URL("../../core/cli/test/support/evaluation-cost.ts", import.meta.url));
  const args = [values.model ?? modelDirectory(engine), values.rounds, values.tasks, String(TOKENS)];
  const child = spawn(process.execPath, ["--conditions=mrlm-source", program, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const costs = new Map<string, Cost[]>();
  let begun: Cost = { cpu: 0, wall: 0 };
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { kind, at } = JSON.parse(line) as { readonly kind: string; readonly at: "begin" | "end" };
    const now = { cpu: treeCpuSeconds(child.pid as number), wall: performance.now() / 1000 };
    if (at === "begin") begun = now;
    else costs.set(kind, [...(costs.get(kind) ?? []), { cpu: now.cpu - begun.cpu, wall: now.wall - begun.wall }]);
    if (at === "end") console.error(`${kind}: ${JSON.stringify(costs.get(kind)?.at(-1))}`);
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`The evaluations ended with ${code}.`);

  const costsOf = (kind: string, key: keyof Cost): number[] => (costs.get(kind) ?? []).map((cost) => cost[key]);
  const overhead = (key: keyof Cost): number => {
    const plain = costsOf("plain", key);
    return median(costsOf("kept", key).map((kept, i) => kept / (plain[i] as number))) - 1;
  };
  return {
    ...{ resume_overhead: overhead("cpu"), resume_overhead_wall: overhead("wall") },
    ...{ cpu_seconds: median(costsOf("plain", "cpu")), resume_seconds: median(costsOf("again", "wall")) },
    episodes: 2 * Number(values.tasks),
  };
}
