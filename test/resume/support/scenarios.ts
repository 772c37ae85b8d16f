import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TINY } from "../../e2e/support/tiny-run.ts";

/** A training job to be killed. */
export interface Scenario {
  readonly name: string;
  readonly config: object;
}

const sft = { algorithm: "sft@1", steps: 18, batch_size: 32, learning_rate: 1e-2 };
const lora = { rank: 4, alpha: 8 };
const pairs = { prompts: 8, group_size: 4, pairs_per_group: 2, batch_size: 8, learning_rate: 1e-3 };
const base = { ...TINY, eval: { tasks: 4 }, checkpoint: { every: 1, keep: 2 } };

/** All four algorithms, with everything that a continuation could forget. */
export function scenarios(directory: string): Scenario[] {
  const preferences = join(directory, "pairs.jsonl");
  const rows = Array.from({ length: 24 }, (_, i) => ({ prompt: `sort ${i} and ${24 - i}`, chosen: `<answer>${i}</answer>`, rejected: `${24 - i}` }));
  writeFileSync(preferences, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const fromFile = { ...base, model: { random: { ...TINY.model.random, tokenizer: "characters" } } };
  const file = { batch_size: 6, data: preferences, learning_rate: 1e-3 };
  return [
    {
      name: "SFT until a goal, then GRPO with minibatches, a reference and dynamic sampling over two environments",
      config: {
        ...base,
        environments: [...TINY.environments, { id: "math@1", options: { families: ["ordering"], difficulty_range: [2, 3], style: "terse", rewards: { format: 0.5 } }, weight: 2 }],
        stages: [
          { ...sft, lr_schedule: "cosine", until: { accuracy: 0.05, every: 6, tasks: 8 } },
          { algorithm: "grpo@1", steps: 6, prompts_per_step: 4, group_size: 4, updates_per_step: 2, minibatches: 2, kl_coefficient: 0.01, dynamic_sampling: 2, max_staleness: 0, learning_rate: 1e-3, lr_schedule: "linear", warmup_steps: 3 },
        ],
        eval: { tasks: 4, every: 5 },
      },
    },
    {
      name: "SFT, then PPO with a critic of its own, adaptive KL, whitening and several epochs",
      config: {
        ...base,
        stages: [
          { ...sft, steps: 10 },
          { algorithm: "ppo@1", steps: 8, prompts_per_step: 4, group_size: 4, updates_per_step: 2, minibatches: 2, kl_coefficient: 0.05, kl_target: 0.01, kl_horizon: 50, critic_warmup_steps: 1, whiten_advantages: true, learning_rate: 1e-3, critic_learning_rate: 1e-2 },
        ],
      },
    },
    {
      name: "PPO on a shared trunk in float16 with loss scaling",
      config: { ...base, model: { ...TINY.model, dtype: "float16" }, stages: [{ ...sft, steps: 6 }, { algorithm: "ppo@1", steps: 5, critic: "shared", prompts_per_step: 4, group_size: 4, updates_per_step: 2, entropy_coefficient: 0.01, learning_rate: 1e-3 }] },
    },
    {
      name: "SFT, then DPO, of adapters, from collected pairs that are played anew, with a precomputed reference",
      config: { ...base, model: { ...TINY.model, lora }, stages: [{ ...sft, steps: 24, learning_rate: 3e-2 }, { algorithm: "dpo@1", steps: 9, ...pairs, collect_every: 3, reference: "precomputed" }] },
    },
    {
      name: "DPO of adapters from a file (IPO), against the adapter switched off",
      config: { ...fromFile, model: { ...fromFile.model, lora }, stages: [{ algorithm: "dpo@1", steps: 10, ...file, loss: "ipo" }] },
    },
    {
      name: "DPO from a file: KTO, with a precomputed reference",
      config: { ...fromFile, stages: [{ algorithm: "dpo@1", steps: 10, ...file, loss: "kto", reference: "precomputed" }] },
    },
    ...["ddp", "fsdp"].map((strategy) => ({
      name: `SFT, then GRPO in two ranks (${strategy})`,
      config: { ...base, server: {}, distributed: { strategy, nproc_per_node: 2 }, stages: [{ ...sft, steps: 4 }, { algorithm: "grpo@1", steps: 3, prompts_per_step: 4, group_size: 4, kl_coefficient: 0.01, learning_rate: 1e-3 }] },
    })),
  ];
}
