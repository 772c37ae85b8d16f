/** Cost of the episode store beside a step of a pipelined run. */
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { recordedSteps, storeCost } from "../store/operations.ts";
import { trainingRun } from "../store/training-run.ts";

const TOKENS = 64;
const WARMUP = 2;

/** Trains 32 groups of 8 episodes a step, with play ahead of learning, and repeats the operations on the store with the episodes that the run wrote. */
export async function storeShareFigures(steps: number): Promise<Record<string, number>> {
  console.error("the store beside a pipelined step");
  const stage = {
    algorithm: "grpo@1",
    steps: steps + WARMUP,
    prompts_per_step: 32,
    group_size: 8,
    mismatch: "truncate",
  };
  const run = await trainingRun(TOKENS, steps, undefined, { play: { mode: "pipelined", lag: 1 }, stages: [stage] });
  const cost = await storeCost(recordedSteps(run.directory));
  rmSync(dirname(run.directory), { recursive: true });
  return {
    store_cpu_share: cost.cpuSeconds / run.cpuSeconds,
    store_cpu_ms_per_step: cost.cpuSeconds * 1000,
    store_step_cpu_ms: run.cpuSeconds * 1000,
  };
}
