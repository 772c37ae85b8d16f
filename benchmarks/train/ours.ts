/** Our side: `mrlm train` as a user runs it, with its environment server and its engine in separate processes. */
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Measurement, median } from "./measurement.ts";
import { treeCpuSeconds, treePeakMib } from "../process-tree.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Measured operation. */
export interface Workload {
  readonly name: string;
  readonly algorithm: "grpo" | "ppo" | "sft" | "dpo";
  /** Prompts (of 8 answers each), rows or pairs of a step. */
  readonly size: number;
  /** Sequences (DPO: pairs) of a pass of the peers: what makes TRL quickest (peers/README.md), 1,300 to 2,600 tokens, padding included. */
  readonly peerBatch: number;
  /** Forced length of completions, where there are any. */
  readonly tokens?: number;
  /** Number format of our side; float32 when left out. */
  readonly dtype?: string;
  /** Torch threads; the default number when left out. */
  readonly threads?: number;
}

/** Prompts are given as they are, so that both sides see the same tokens; an answer ends with the end-of-sequence token. */
const PLAIN_TEMPLATE =
  "{% for message in messages %}{{ message.content }}{% if message.role == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}";

/** Adds the files that mrlm needs to the peers' fixture: a chat template and JSONL rows. */
export function prepareFixture(fixture: string): void {
  const model = join(fixture, "model-chat");
  cpSync(join(fixture, "model"), model, { recursive: true, dereference: true });
  writeFileSync(join(model, "chat_template.jinja"), PLAIN_TEMPLATE);
  const { rows } = JSON.parse(readFileSync(join(fixture, "sft.json"), "utf8")) as { rows: object[] };
  const { pairs } = JSON.parse(readFileSync(join(fixture, "dpo.json"), "utf8")) as { pairs: object[] };
  for (const [name, lines] of [
    ["sft", rows],
    ["dpo", pairs],
  ] as const)
    writeFileSync(join(fixture, `${name}.jsonl`), lines.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

export async function measureOurs(
  fixture: string,
  workload: Workload,
  steps: number,
  warmup: number,
): Promise<Measurement> {
  const directory = join(fixture, "runs");
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `${workload.name}.yaml`);
  writeFileSync(path, JSON.stringify(configOf(fixture, workload, steps + warmup)));
  const child = spawn(
    process.execPath,
    [join(root, "core/cli/bin/mrlm.js"), "train", "--json", "--config", path, "--output", directory],
    { cwd: root, stdio: ["ignore", "pipe", "inherit"] },
  );
  const marks: { wall: number; cpu: number; memory: number; iteration: number; engine: number }[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => {
    const event = JSON.parse(line) as { event: string; seconds: number; engineSeconds: number };
    if (event.event === "iteration")
      marks.push({
        wall: performance.now() / 1000,
        cpu: treeCpuSeconds(child.pid as number),
        memory: treePeakMib(child.pid as number),
        iteration: event.seconds,
        engine: event.engineSeconds,
      });
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`mrlm train ended with code ${String(code)}`);
  const between = (key: "wall" | "cpu"): number[] =>
    marks.slice(warmup).map((mark, i) => mark[key] - (marks[warmup + i - 1] as (typeof marks)[number])[key]);
  const measured = marks.slice(warmup);
  return {
    cpu_s_per_step: median(between("cpu")),
    wall_s_per_step: median(between("wall")),
    cpu_s: between("cpu"),
    wall_s: between("wall"),
    memory_mib: Math.max(...measured.map(({ memory }) => memory)),
    wire_share:
      1 -
      measured.reduce((sum, { engine }) => sum + engine, 0) /
        measured.reduce((sum, { iteration }) => sum + iteration, 0),
  };
}

function configOf(
  fixture: string,
  { algorithm, size, tokens = 64, dtype = "float32", threads }: Workload,
  steps: number,
): object {
  const optimizer = { learning_rate: 1e-4, max_grad_norm: 1, weight_decay: 0 };
  const episodes = { steps, prompts_per_step: size, group_size: 8, ...optimizer };
  const stage = {
    grpo: { algorithm: "grpo@1", scale: "group_std", aggregation: "token_mean", ...episodes },
    // The defaults of PPO: a separate critic and two updates of each batch.
    ppo: { algorithm: "ppo@1", ...episodes },
    sft: { algorithm: "sft@1", steps, batch_size: size, data: join(fixture, "sft.jsonl"), ...optimizer },
    dpo: {
      algorithm: "dpo@1",
      steps,
      batch_size: size,
      beta: 0.5,
      reference: "model",
      data: join(fixture, "dpo.jsonl"),
      ...optimizer,
    },
  }[algorithm];
  return {
    name: "bench",
    model: { path: join(fixture, "model-chat"), dtype },
    environments: [{ id: "prompts@1", options: { file: join(fixture, "grpo.json") } }],
    stages: [stage],
    sampling: { temperature: 1, max_tokens: tokens, ignore_stop: true },
    eval: { tasks: 0 },
    engine: threads === undefined ? {} : { threads },
    server: { spawn: true },
    plugins: { [fileURLToPath(new URL("./environment", import.meta.url))]: true },
  };
}
