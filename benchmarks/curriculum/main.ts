// npm run bench -- curriculum [--json] [--seeds N] [--steps N]: tokens to a held-out accuracy by `curriculum`, compared with a fixed order with dynamic sampling.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { printFigures, processor } from "../figures.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Mean reward of sampled held-out episodes. A third of the tasks is right from the begin, a third cannot be learnt: 0.6 is 0.8 of what can be. */
const GOAL = 0.6;

const { values } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    seeds: { type: "string", default: "3" },
    steps: { type: "string", default: "80" },
  },
});

type Event = Readonly<Record<string, unknown>> & { readonly event: string };

const BASE = {
  name: "curriculum",
  plugins: { [join(import.meta.dirname, "environment/")]: true },
  environments: [{ id: "mixed@1" }],
  sampling: { max_tokens: 2 },
  checkpoint: { every: 0 },
};

/** 0.05M parameters. */
const RANDOM_MODEL = {
  model: {
    random: {
      config: {
        model_type: "qwen2",
        hidden_size: 64,
        intermediate_size: 192,
        num_hidden_layers: 1,
        num_attention_heads: 4,
        num_key_value_heads: 4,
        max_position_embeddings: 32,
        initializer_range: 0.05,
        tie_word_embeddings: true,
      },
      tokenizer: { characters: { alphabet: "01234emh", tags: [] } },
    },
  },
};

/** A run up to its first evaluation at the goal. */
interface MeasuredRun {
  /** Sampled tokens of training, refused groups included. */
  readonly tokens: number;
  readonly steps: number;
  readonly groups: number;
}

/** Runs `mrlm train` and returns the directory of the run. @param onEvent ends the run where it returns true, after its step */
async function train(config: object, seed: number, onEvent: (event: Event) => boolean = () => false): Promise<string> {
  const output = mkdtempSync(join(tmpdir(), "mrlm-bench-"));
  const path = join(output, "run.yaml");
  writeFileSync(path, JSON.stringify({ ...BASE, ...config }));
  const child = spawn(
    process.execPath,
    [
      ...["--conditions=mrlm-source", join(ROOT, "core/cli/src/main.ts"), "train", "--json"],
      ...["--config", path, "--seed", String(seed), "--output", output],
    ],
    { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] },
  );
  let [directory, isEnding] = ["", false];
  createInterface({ input: child.stdout }).on("line", (line) => {
    const event = JSON.parse(line) as Event;
    if (event.event === "start") directory = String(event["directory"]);
    if (isEnding || !onEvent(event)) return;
    isEnding = true;
    child.kill("SIGINT");
  });
  await new Promise((resolve) => child.once("close", resolve));
  return directory;
}

/** Trains until the goal is reached. Rejects where it is not. */
async function measure(seed: number, model: string, stage: object): Promise<MeasuredRun> {
  let [step, reached]: [number, number | undefined] = [0, undefined];
  const grpo = {
    ...{ algorithm: "grpo@1", steps: Number(values.steps), prompts_per_step: 16, group_size: 8, dynamic_sampling: 8 },
    ...{ learning_rate: 1e-3, ...stage },
  };
  const config = {
    model: { path: model },
    stages: [grpo],
    eval: { tasks: 120, samples: 4, every: 2 },
  };
  const directory = await train(config, seed, (event) => {
    if (event.event === "iteration") step++;
    if (event.event !== "evaluation") return false;
    const [{ sampled }] = event["results"] as [{ readonly sampled: { readonly reward: number } }];
    console.error(`seed ${seed} ${JSON.stringify(stage)}: step ${step}, mean reward ${sampled.reward.toFixed(3)}`);
    if (sampled.reward >= GOAL) reached = step;
    return reached !== undefined;
  });
  if (reached === undefined) throw new Error(`Seed ${seed} did not reach ${GOAL} in ${values.steps} steps.`);
  const database = new DatabaseSync(join(directory, "episodes.sqlite"), { readOnly: true });
  const [row] = database
    .prepare(
      `SELECT SUM(tokens) AS tokens, COUNT(DISTINCT group_key) AS groups FROM v_episodes WHERE purpose = 'train' AND run_step <= ?`,
    )
    .all(reached) as [{ readonly tokens: number; readonly groups: number }];
  database.close();
  rmSync(dirname(directory), { recursive: true });
  return { ...row, steps: reached };
}

/** Compares both orders from the same model, which has learnt the form of an answer. */
async function compare(seed: number): Promise<Readonly<Record<"fixed" | "curriculum", MeasuredRun>>> {
  const sft = { algorithm: "sft@1", steps: 40, batch_size: 32, learning_rate: 3e-3 };
  const model = await train({ ...RANDOM_MODEL, stages: [sft], eval: { tasks: 0 } }, seed);
  const [fixed, curriculum] = await Promise.all([measure(seed, model, {}), measure(seed, model, { curriculum: {} })]);
  rmSync(dirname(model), { recursive: true });
  return { fixed, curriculum };
}

const figures: Record<string, number> = { model_million_parameters: 0.05 };
const seeds = Array.from({ length: Number(values.seeds) }, (_, seed) => seed);
// Tokens do not depend on the time that a run takes.
const runs = await Promise.all(seeds.map(compare));
const ratios = runs.map(({ fixed, curriculum }, seed) => {
  for (const [name, run] of Object.entries({ fixed, curriculum }))
    for (const [key, value] of Object.entries(run)) figures[`${name}_${key}_seed_${seed}`] = value;
  const ratio = Number((fixed.tokens / curriculum.tokens).toPrecision(4));
  figures[`tokens_ratio_seed_${seed}`] = ratio;
  return ratio;
});
figures["tokens_ratio_min"] = Math.min(...ratios);

if (!values.json) console.table(Object.entries(figures).map(([figure, value]) => ({ figure, value })));
printFigures("curriculum", processor(), figures);
