/**
 * npm run bench -- real [--json] [--rounds N] [--steps N] [--only NAME] [--dtype bfloat16]: SmolLM2-135M-Instruct. CPU and wall seconds and memory of a step of GRPO, SFT
 * and DPO beside TRL and a bare loop (as `train`), and tokens a second of 8 and 64 rows beside transformers' `generate` (`--only decode`).
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { printFigures, processor } from "../figures.ts";
import { compareSides, enginePython, printRows, secondsOf } from "../train/compare-sides.ts";
import type { Workload } from "../train/ours.ts";
import { peerPython } from "../train/peer.ts";
import { makeRealFixture, modelDirectory } from "./fixture.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    rounds: { type: "string", default: "1" },
    steps: { type: "string", default: "3" },
    only: { type: "string" },
    dtype: { type: "string", default: "float32" },
  },
});
const isChosen = (name: string): boolean => values.only === undefined || name.startsWith(values.only);
const { dtype } = values;
const WORKLOADS: readonly Workload[] = [
  { name: "grpo", algorithm: "grpo", size: 8, peerBatch: 16, tokens: 40, dtype },
  { name: "sft", algorithm: "sft", size: 32, peerBatch: 16, dtype },
  { name: "dpo", algorithm: "dpo", size: 16, peerBatch: 8, dtype },
];

const engine = enginePython();
const model = modelDirectory(engine);
const chosen = WORKLOADS.filter(({ name }) => isChosen(name));
const figures: Record<string, number> = {};
if (chosen.length > 0) {
  const python = peerPython(engine);
  const fixture = makeRealFixture(model, python);
  const rows = await compareSides(python, fixture, chosen, Number(values.rounds), Number(values.steps), 1);
  for (const [name, { ours, trl, bare }] of Object.entries(rows)) {
    if (trl === undefined || bare === undefined) continue;
    const of = name === "grpo" ? "" : `_${name}`;
    put(`cpu_ratio${of}_trl`, ours.cpu_s_per_step / trl.cpu_s_per_step);
    put(`wall_ratio${of}_trl`, ours.wall_s_per_step / trl.wall_s_per_step);
    put(`memory_ratio${of}_trl`, ours.memory_mib / trl.memory_mib);
    put(`cpu_ratio${of}_bare`, ours.cpu_s_per_step / bare.cpu_s_per_step);
  }
  Object.assign(figures, secondsOf(rows));
  if (!values.json) printRows(rows);
}
if (isChosen("decode")) {
  for (const rows of [8, 64]) {
    const rates = measureDecoding(rows);
    put(`tokens_per_s_${rows}`, rates.engine);
    put(`tokens_per_s_${rows}_transformers`, rates.generate);
    put(`tokens_ratio_${rows}_transformers`, rates.engine / rates.generate);
  }
}
if (!values.json) console.table(figures);
printFigures("real", processor(), figures);

function put(name: string, value: number): void {
  figures[name] = Number(value.toPrecision(4));
}

/** Returns the tokens a second of the engine and of `generate`, in turns, with different prompts of 40 tokens and answers of 40. */
function measureDecoding(rows: number): { engine: number; generate: number } {
  const script = fileURLToPath(new URL("../gpu/bench.py", import.meta.url));
  const output = execFileSync(
    engine,
    [
      script,
      "--device",
      "cpu",
      "--model",
      model,
      "--rows",
      String(rows),
      "--prompt",
      "40",
      "--new",
      "40",
      "--rounds",
      values.rounds,
      "--dtype",
      dtype,
    ],
    { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
  );
  return (
    JSON.parse(output.trim().split("\n").at(-1) as string) as {
      figures: { sampled_tokens_per_s: { engine: number; generate: number } };
    }
  ).figures.sampled_tokens_per_s;
}
