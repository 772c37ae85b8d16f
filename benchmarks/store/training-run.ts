/** A run of `mrlm train` as a user starts it, with environment server and engine in processes of their own. */
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { median } from "../train/measurement.ts";
import { treeCpuSeconds } from "../process-tree.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const WARMUP = 2;

/** Cost of a step of the run, and its directory. */
export interface TrainingRun {
  readonly directory: string;
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
}

/**
 * Trains the model of examples/quickstart by GRPO: 32 groups of 8 episodes, with answers of `tokens` tokens. The run is below `output`.
 * @param changes sections that replace those of the configuration
 */
export async function trainingRun(
  tokens: number,
  steps: number,
  output = mkdtempSync(join(tmpdir(), "mrlm-bench-")),
  changes: object = {},
): Promise<TrainingRun> {
  const path = join(output, "run.yaml");
  writeFileSync(path, JSON.stringify({ ...configOf(tokens, steps + WARMUP), ...changes }));
  const child = spawn(
    process.execPath,
    [join(root, "core/cli/bin/mrlm.js"), "train", "--json", "--config", path, "--output", output],
    { cwd: root, stdio: ["ignore", "pipe", "inherit"] },
  );
  const marks: { readonly wall: number; readonly cpu: number }[] = [];
  let directory = "";
  createInterface({ input: child.stdout }).on("line", (line) => {
    const event = JSON.parse(line) as { readonly event: string; readonly directory?: string };
    if (event.event === "start" && event.directory !== undefined) directory = event.directory;
    if (event.event === "iteration")
      marks.push({ wall: performance.now() / 1000, cpu: treeCpuSeconds(child.pid as number) });
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`mrlm train ended with code ${String(code)}`);
  const between = (key: "wall" | "cpu"): number =>
    median(marks.slice(WARMUP).map((mark, i) => mark[key] - (marks[WARMUP + i - 1] as (typeof marks)[number])[key]));
  return { directory, cpuSeconds: between("cpu"), wallSeconds: between("wall") };
}

function configOf(tokens: number, steps: number): object {
  return {
    name: "store",
    model: {
      random: {
        config: {
          model_type: "qwen2",
          hidden_size: 128,
          intermediate_size: 512,
          num_hidden_layers: 4,
          num_attention_heads: 4,
          num_key_value_heads: 2,
          max_position_embeddings: 128,
          tie_word_embeddings: true,
        },
        tokenizer: {
          characters: { alphabet: " 0123456789abcdefghijklmnopqrstuvwxyz", tags: ["<answer>", "</answer>"] },
        },
      },
    },
    environments: [{ id: "math@2", options: { families: ["ordering"], difficulty_range: 5, style: "terse" } }],
    sampling: { max_tokens: tokens, ignore_stop: true },
    stages: [{ algorithm: "grpo@1", steps, prompts_per_step: 32, group_size: 8 }],
    eval: { tasks: 0 },
    server: { spawn: true },
  };
}
