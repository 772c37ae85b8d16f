import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TINY } from "../../e2e/support/tiny-run.ts";

/** A training job to be killed. */
export interface Scenario {
  readonly name: string;
  readonly config: object;
}

const sft = { algorithm: "sft@1", batch_size: 32, learning_rate: 2e-3 };
const ppo = { algorithm: "ppo@1", prompts_per_step: 4, group_size: 4, updates_per_step: 2, learning_rate: 1e-3 };
const dpo = { algorithm: "dpo@1", prompts: 8, group_size: 4, pairs_per_group: 2, batch_size: 8, learning_rate: 1e-3 };
const grpo = { algorithm: "grpo@1", prompts_per_step: 4, group_size: 4, kl_coefficient: 0.01, learning_rate: 1e-3 };
const ordering = { families: ["ordering"], style: "terse", rewards: { format: 0.5 } };
const lora = { rank: 4, alpha: 8 };

/** Makes the model that the scenarios begin with: one that has learnt the form of an answer, so that episodes differ in what they earn. */
export const WARM = {
  ...TINY,
  stages: [{ ...sft, steps: 24, learning_rate: 1e-2 }],
  eval: { tasks: 0 },
  checkpoint: { every: 0 },
};

/** A GRPO run of one stage. */
export function grpoAlone(path: string): Scenario {
  const config = {
    ...TINY,
    model: { path },
    eval: { tasks: 0 },
    checkpoint: { every: 1, keep: 3 },
    stages: [{ ...grpo, steps: 8 }],
  };
  return { name: "GRPO", config };
}

/** The same, whose batches are played ahead, in parts that several processes can play. */
export function grpoAhead(path: string, steps = 8): Scenario {
  const { config } = grpoAlone(path);
  const play = { mode: "pipelined", lag: 1, cohorts: 4 };
  return {
    name: "GRPO ahead of learning",
    config: { ...config, play, stages: [{ ...grpo, mismatch: "truncate", steps }] },
  };
}

const character = (seed: number): object => ({
  random: { ...TINY.model.random, tokenizer: { characters: { alphabet: "ab12-" } }, seed },
});

/** A game of a policy against its earlier versions. */
const AGAINST_PAST: Scenario = {
  name: "GRPO with credit by branches against earlier versions of the policy",
  config: {
    ...TINY,
    model: { random: { ...TINY.model.random, tokenizer: { characters: { alphabet: "0123456789", tags: [] } } } },
    environments: [
      {
        id: "nim@1",
        options: { style: "terse" },
        players: { first: "policy", second: { policy: "policy", past: { every: 2, keep: 2, newest: 0.5 } } },
      },
    ],
    sampling: { temperature: 1, max_tokens: 1 },
    eval: { tasks: 4, every: 4 },
    checkpoint: { every: 1, keep: 2 },
    stages: [{ ...grpo, steps: 9, credit: "branch", branches: 2 }],
  },
};

/** Two policies whose learners share their plays, then one of them against the other. */
const TWO_POLICIES: Scenario = {
  name: "GRPO of one policy beside PPO of another from the same plays, then GRPO of the second alone",
  config: {
    ...TINY,
    model: undefined,
    policies: { sender: character(1), receiver: { ...character(2), sampling: { temperature: 1.1 } } },
    environments: [
      {
        id: "signals@1",
        options: { style: "terse", meanings: 2, symbols: 2 },
        players: { sender: "sender", receiver: "receiver" },
      },
    ],
    sampling: { temperature: 1, max_tokens: 1 },
    eval: { tasks: 2, every: 4 },
    checkpoint: { every: 1, keep: 2 },
    stages: [
      {
        learners: {
          sender: { ...grpo, steps: 6, minibatches: 2 },
          receiver: { ...ppo, steps: 6, critic: "separate", kl_coefficient: 0.05, kl_target: 0.01 },
        },
      },
      { learners: { receiver: { ...grpo, steps: 3 } } },
    ],
  },
};

/** Runs that learn from the episodes they play, with everything that a continuation could forget. */
export function playingScenarios(path: string): Scenario[] {
  const base = baseOf(path);
  return [
    grpoAhead(path),
    {
      name: "SFT until a goal, then GRPO with minibatches, a reference and dynamic sampling over two environments, one with a curriculum",
      config: {
        ...base,
        environments: [
          ...TINY.environments,
          {
            id: "math@2",
            options: {
              ...ordering,
              difficulty_range: [2, 3],
              curriculum: [
                { tasks: 12, difficulty_range: 1 },
                { tasks: 16, difficulty_range: 2 },
              ],
            },
            weight: 2,
          },
        ],
        stages: [
          { ...sft, steps: 9, lr_schedule: "cosine", until: { accuracy: 0.05, every: 3, tasks: 8 } },
          {
            ...grpo,
            steps: 6,
            updates_per_step: 2,
            minibatches: 2,
            dynamic_sampling: 2,
            max_staleness: 0,
            lr_schedule: "linear",
            warmup_steps: 3,
          },
        ],
        eval: { tasks: 4, every: 5 },
      },
    },
    {
      name: "SFT, then PPO with a critic of its own, adaptive KL, whitening and several epochs",
      config: {
        ...base,
        stages: [
          { ...sft, steps: 4 },
          {
            ...ppo,
            steps: 8,
            minibatches: 2,
            kl_coefficient: 0.05,
            kl_target: 0.01,
            kl_horizon: 50,
            critic_warmup_steps: 1,
            whiten_advantages: true,
            critic_learning_rate: 1e-2,
          },
        ],
      },
    },
    {
      name: "SFT, then PPO on a shared trunk, in float16 with loss scaling",
      config: {
        ...base,
        model: { path, dtype: "float16" },
        stages: [
          { ...sft, steps: 3 },
          { ...ppo, steps: 6, critic: "shared", entropy_coefficient: 0.01 },
        ],
      },
    },
    {
      name: "DPO of adapters from collected pairs that are played anew, against the adapter switched off",
      config: { ...base, model: { path, lora }, stages: [{ ...dpo, steps: 9, collect_every: 3 }] },
    },
    {
      name: "GRPO with refills and a curriculum over two environments",
      config: {
        ...base,
        environments: [...TINY.environments, { id: "math@2", options: { ...ordering, difficulty_range: [1, 3] } }],
        stages: [
          { ...grpo, steps: 8, dynamic_sampling: 2, curriculum: { fresh: 0.5, half_life: 2, mixture: "progress" } },
        ],
      },
    },
    {
      name: "GRPO with refills and one scale for the batch, then DPO in rounds",
      config: {
        ...base,
        stages: [
          { ...grpo, steps: 4, dynamic_sampling: 2, scale: "batch_std" },
          { ...dpo, steps: 6, collect_every: 2 },
        ],
      },
    },
  ];
}

/**
 * Runs of all four algorithms.
 * @param path of the model
 * @param directory of their data
 */
export function scenarios(path: string, directory: string): Scenario[] {
  const base = baseOf(path);
  const preferences = join(directory, "pairs.jsonl");
  const rows = Array.from({ length: 24 }, (_, i) => ({
    prompt: `sort ${i} and ${24 - i}`,
    chosen: `<answer>${i}</answer>`,
    rejected: `${24 - i}`,
  }));
  writeFileSync(preferences, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const file = { algorithm: "dpo@1", steps: 8, batch_size: 6, data: preferences, learning_rate: 1e-3 };
  return [
    ...playingScenarios(path),
    {
      name: "SFT, then DPO from collected pairs, with a precomputed reference",
      config: {
        ...base,
        stages: [
          { ...sft, steps: 3 },
          { ...dpo, steps: 8, reference: "precomputed" },
        ],
      },
    },
    {
      name: "DPO from a file: KTO with a precomputed reference, then IPO against a copy",
      config: {
        ...base,
        stages: [
          { ...file, loss: "kto", reference: "precomputed" },
          { ...file, name: "ipo", loss: "ipo" },
        ],
      },
    },
    ...["ddp", "fsdp"].map((strategy) => ({
      name: `SFT, then GRPO in two ranks (${strategy})`,
      config: {
        ...base,
        server: {},
        distributed: { strategy, nproc_per_node: 2 },
        stages: [
          { ...sft, steps: 3 },
          { ...grpo, steps: 3 },
        ],
      },
    })),
    TWO_POLICIES,
    AGAINST_PAST,
  ];
}

function baseOf(path: string) {
  return { ...TINY, model: { path }, eval: { tasks: 4 }, checkpoint: { every: 1, keep: 2 } };
}
