/**
 * npm run bench -- train [--json] [--rounds N] [--steps N] [--only NAME]: CPU and wall seconds of a training step beside TRL's trainers (at their
 * best settings) and a bare PyTorch loop, with the same weights, prompts or rows, lengths and optimizer steps. What takes turns is what is compared:
 * ours, TRL, bare, ours, ... because a machine's speed drifts.
 */
import { execFileSync } from "node:child_process";
import { availableParallelism, cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Measurement, pooled } from "./measurement.ts";
import { measureOurs, prepareFixture, type Workload } from "./ours.ts";
import { makeFixture, measurePeer, peerPython } from "./peer.ts";

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
  { name: "grpo-64", algorithm: "grpo", tokens: 64 },
  { name: "grpo-64-1-thread", algorithm: "grpo", tokens: 64, threads: 1 },
  { name: "grpo-8", algorithm: "grpo", tokens: 8 },
  { name: "grpo-8-1-thread", algorithm: "grpo", tokens: 8, threads: 1 },
  { name: "sft", algorithm: "sft" },
  { name: "sft-1-thread", algorithm: "sft", threads: 1 },
  { name: "dpo", algorithm: "dpo" },
  { name: "dpo-1-thread", algorithm: "dpo", threads: 1 },
  { name: "ppo", algorithm: "ppo", tokens: 64 },
];

const mrlm = fileURLToPath(new URL("../../core/cli/bin/mrlm.js", import.meta.url));
const setup = execFileSync(process.execPath, [mrlm, "engine", "setup", "--json"], {
  encoding: "utf8",
  stdio: ["ignore", "pipe", "inherit"],
});
const python = peerPython((JSON.parse(setup.trim().split("\n").at(-1) as string) as { executable: string }).executable);
const fixture = makeFixture(python);
prepareFixture(fixture);

const steps = Number(values.steps);
/** No peers for PPO: TRL no longer contains it. */
interface Row {
  readonly ours: Measurement;
  readonly trl?: Measurement;
  readonly bare?: Measurement;
}

const rows: Record<string, Row> = {};
for (const workload of WORKLOADS.filter(({ name }) => values.only === undefined || name.startsWith(values.only))) {
  const sides: { ours: Measurement[]; trl: Measurement[]; bare: Measurement[] } = { ours: [], trl: [], bare: [] };
  for (let round = 0; round < Number(values.rounds); round++) {
    console.error(`${workload.name}: round ${round + 1} of ${values.rounds}`);
    sides.ours.push(await measureOurs(fixture, workload, steps, WARMUP));
    if (workload.algorithm === "ppo") continue;
    sides.trl.push(measurePeer(python, "trl", fixture, workload, steps, WARMUP));
    sides.bare.push(measurePeer(python, "bare", fixture, workload, steps, WARMUP));
  }
  rows[workload.name] = {
    ours: pooled(sides.ours),
    ...(sides.trl.length > 0 && { trl: pooled(sides.trl), bare: pooled(sides.bare) }),
  };
}

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
for (const [name, sides] of Object.entries(rows)) {
  for (const [side, measured] of Object.entries(sides)) {
    put(`${name.replaceAll("-", "_")}_${side}_cpu_s`, measured.cpu_s_per_step);
    put(`${name.replaceAll("-", "_")}_${side}_wall_s`, measured.wall_s_per_step);
  }
}
if (!values.json) {
  const shown = (measured: Measurement | undefined): string =>
    measured === undefined ? "" : `${measured.cpu_s_per_step.toFixed(2)} / ${measured.wall_s_per_step.toFixed(2)}`;
  console.table(
    Object.entries(rows).map(([name, { ours, trl, bare }]) => ({
      step: name,
      "ours CPU / wall s": shown(ours),
      TRL: shown(trl),
      "bare PyTorch": shown(bare),
      "ours / TRL (CPU)": ratio(name, "cpu_s_per_step")?.toFixed(2) ?? "",
    })),
  );
}
console.log(
  JSON.stringify({
    bench: "train",
    machine: `${cpus()[0]?.model ?? "unknown"}, ${availableParallelism()} cores`,
    figures,
  }),
);
