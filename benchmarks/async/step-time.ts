/** Wall time of a step of the quickstart's GRPO, pipelined against in turn, and the weights of equal pipelined runs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { trainingRun } from "../store/training-run.ts";
import { median } from "../train/measurement.ts";
import { GRPO, storedRun } from "./measured-run.ts";

const ANSWER_TOKENS = 10;
/** Pipelined runs whose weights are compared. */
const RUNS = 5;

export async function stepTimeFigures(rounds: number, steps: number): Promise<Record<string, number>> {
  console.error(`${rounds} rounds of ${steps} steps, in turn and pipelined`);
  const wall = { sync: [] as number[], pipelined: [] as number[] };
  const cpu: number[] = [];
  const checksums: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const inTurn = await train("sync", steps);
    wall.sync.push(inTurn.wall);
    cpu.push(inTurn.cpu);
    const ahead = await train("pipelined", steps);
    wall.pipelined.push(ahead.wall);
    checksums.push(ahead.checksum);
  }
  while (checksums.length < RUNS) checksums.push((await train("pipelined", steps)).checksum);
  return {
    pipelined_wall_ratio: median(wall.pipelined) / median(wall.sync),
    // Two processors need at least half of the CPU time of a step in turn.
    pipelined_wall_to_half_cpu: median(wall.pipelined) / (median(cpu) / 2),
    sync_step_ms: median(wall.sync) * 1000,
    pipelined_step_ms: median(wall.pipelined) * 1000,
    sync_step_cpu_ms: median(cpu) * 1000,
    pipelined_runs_equal: new Set(checksums).size === 1 ? checksums.length : 0,
  };
}

/** Trains, and returns the seconds of a step with the checksum of the last weights. */
async function train(
  mode: "sync" | "pipelined",
  steps: number,
): Promise<{ readonly wall: number; readonly cpu: number; readonly checksum: string }> {
  const output = mkdtempSync(join(tmpdir(), "mrlm-bench-"));
  const stages = [{ ...GRPO, steps: steps + 2, learning_rate: 1e-4 }];
  const run = await trainingRun(ANSWER_TOKENS, steps, output, { stages, play: { mode } });
  const { checksum } = storedRun(run.directory);
  rmSync(output, { recursive: true });
  return { wall: run.wallSeconds, cpu: run.cpuSeconds, checksum };
}
