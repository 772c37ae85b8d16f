import { writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A whole training job of a few seconds: SFT, then GRPO, with the environment server and the engine in separate processes. The reward for the
 * form alone gives the groups differences to learn from, though nothing is solved yet.
 */
export const TINY = {
  name: "tiny",
  seed: 3,
  model: {
    random: {
      config: {
        model_type: "qwen2",
        hidden_size: 32,
        intermediate_size: 64,
        num_hidden_layers: 2,
        num_attention_heads: 2,
        num_key_value_heads: 1,
        max_position_embeddings: 64,
        tie_word_embeddings: true,
      },
      tokenizer: { characters: { alphabet: " 0123456789abcdefghijklmnopqrstuvwxyz", tags: ["<answer>", "</answer>"] } },
    },
  },
  environments: [
    {
      id: "math@2",
      options: { families: ["ordering"], difficulty_range: 1, style: "terse", rewards: { format: 0.5 } },
    },
  ],
  sampling: { temperature: 1, max_tokens: 8 },
  stages: [
    { algorithm: "sft@1", steps: 18, batch_size: 32, learning_rate: 1e-2 },
    { algorithm: "grpo@1", steps: 8, prompts_per_step: 4, group_size: 8, learning_rate: 1e-3 },
  ] as Record<string, unknown>[],
  eval: { tasks: 8 },
  checkpoint: { every: 2 },
  // Two lanes, as a model of this size has by default.
  engine: { threads: 2 } as Record<string, unknown>,
  server: { spawn: true },
};

/** Writes a configuration (JSON is YAML) and returns its path. */
export function writeConfig(directory: string, config: object, name = "tiny.yaml"): string {
  const path = join(directory, name);
  writeFileSync(path, JSON.stringify(config, null, 2));
  return path;
}
