/**
 * npm run bench -- train [--json] [--rounds N] [--steps N] [--only NAME]: CPU and wall seconds of a training step beside TRL's trainers (at their
 * best settings) and a bare PyTorch loop, with the same weights, prompts or rows, lengths and optimizer steps. What takes turns is what is compared:
 * ours, TRL, bare, ours, ... because a machine's speed drifts.
 */
import { parseArgs } from "node:util";
import { printFigures, processor } from "../figures.ts";
import { compareSides, enginePython, printRows, secondsOf } from "./compare-sides.ts";
import { prepareFixture, type Workload } from "./ours.ts";
import { makeFixture, peerPython } from "./peer.ts";

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    rounds: { type: "string", default: "1" },
    steps: { type: "string", default: "8" },
    only: { type: "string" },
  },
});
const WARMUP = 2;
const WORKLOADS: readonly Workload[] = [
  { name: "grpo-64", algorithm: "grpo", size: 32, peerBatch: 32, tokens: 64 },
  { name: "grpo-64-1-thread", algorithm: "grpo", size: 32, peerBatch: 32, tokens: 64, threads: 1 },
  { name: "grpo-8", algorithm: "grpo", size: 32, peerBatch: 64, tokens: 8 },
  { name: "grpo-8-1-thread", algorithm: "grpo", size: 32, peerBatch: 64, tokens: 8, threads: 1 },
  { name: "sft", algorithm: "sft", size: 128, peerBatch: 16 },
  { name: "sft-1-thread", algorithm: "sft", size: 128, peerBatch: 16, threads: 1 },
  { name: "dpo", algorithm: "dpo", size: 64, peerBatch: 8 },
  { name: "dpo-1-thread", algorithm: "dpo", size: 64, peerBatch: 8, threads: 1 },
  // No peers: TRL no longer contains PPO.
  { name: "ppo", algorithm: "ppo", size: 32, peerBatch: 32, tokens: 64 },
];

const python = peerPython(enginePython());
const fixture = makeFixture(python);
prepareFixture(fixture);

const chosen = WORKLOADS.filter(({ name }) => values.only === undefined || name.startsWith(values.only));
const rows = await compareSides(python, fixture, chosen, Number(values.rounds), Number(values.steps), WARMUP);

const figures: Record<string, number> = {};
const put = (name: string, value: number | undefined): void =>
  void (value !== undefined && (figures[name] = Number(value.toPrecision(4))));
const ratio = (workload: string, key: "cpu_s_per_step" | "wall_s_per_step"): number | undefined => {
  const row = rows[workload];
  return row?.trl === undefined ? undefined : row.ours[key] / row.trl[key];
};
put("cpu_ratio_vs_trl", ratio("grpo-64", "cpu_s_per_step"));
put("wall_ratio_vs_trl", ratio("grpo-64", "wall_s_per_step"));
put("cpu_ratio_vs_trl_short", ratio("grpo-8", "cpu_s_per_step"));
put("cpu_ratio_sft_vs_trl", ratio("sft", "cpu_s_per_step"));
put("cpu_ratio_dpo_vs_trl", ratio("dpo", "cpu_s_per_step"));
put("cpu_s_per_step_ppo", rows["ppo"]?.ours.cpu_s_per_step);
put("wire_share", rows["grpo-64"]?.ours.wire_share);
put("cpu_ratio_vs_trl_1_thread", ratio("grpo-64-1-thread", "cpu_s_per_step"));
put("wall_ratio_vs_trl_1_thread", ratio("grpo-64-1-thread", "wall_s_per_step"));
put("cpu_ratio_vs_trl_short_1_thread", ratio("grpo-8-1-thread", "cpu_s_per_step"));
put("cpu_ratio_sft_vs_trl_1_thread", ratio("sft-1-thread", "cpu_s_per_step"));
put("cpu_ratio_dpo_vs_trl_1_thread", ratio("dpo-1-thread", "cpu_s_per_step"));
Object.assign(figures, secondsOf(rows));
if (!values.json) printRows(rows);
printFigures("train", processor(), figures);
